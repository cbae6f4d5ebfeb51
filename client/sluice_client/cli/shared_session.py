"""The session that the statements of one command share, once one of them needs it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sluice_client.calls import Flow
from sluice_client.errors import SluiceError
from sluice_client.options import QueryDefaults, QueryOptions
from sluice_client.query.query_request import QueryRequest
from sluice_client.retries import Context
from sluice_client.session_calls import SessionOptions, create_session, end_session, get_session

_PLACE = ("catalog", "schema")


class SharedSession:
    """Before it begins, statements have the options of the command. Then they have its values."""

    def __init__(self, context: Context, defaults: QueryDefaults) -> None:
        self._context = context
        self._outside = self._defaults = defaults

    @property
    def has_begun(self) -> bool:
        """Whether there is a session at the gateway, as far as is known."""
        return self._defaults.session_id is not None

    def request(self, sql: str, parameters: Mapping[str, Any] | None, options: QueryOptions) -> QueryRequest:
        """Returns a statement as it is sent now. `USE` counts, and not the catalog of the command line."""
        chosen = options.copy()
        if self.has_begun:
            for name in _PLACE:
                chosen.pop(name, None)  # type: ignore[misc]  # they are names of it
        return self._defaults.request(sql, parameters, chosen)

    def begin(self, options: QueryOptions) -> Flow[None]:
        """Creates the session, with the catalog and schema of the command.

        Raises:
            SluiceError: it cannot be created.
        """
        values: SessionOptions = {}
        if "catalog" in options:
            values["catalog"] = options["catalog"]
        if "schema" in options:
            values["schema"] = options["schema"]
        created = yield from create_session(self._outside.session(values), self._context)
        self._defaults = replace(self._outside.in_session(), session_id=created.session_id)

    def place(self, options: QueryOptions) -> Flow[tuple[str | None, str | None]]:
        """Returns the catalog and the schema of names without one.

        Raises:
            SessionExpired: the session is not there any more.
        """
        if self._defaults.session_id is None:
            return options.get("catalog", self._outside.catalog), options.get("schema", self._outside.schema)
        state = yield from get_session(self._defaults.session_id, self._context)
        return state.catalog, state.schema

    def forget(self) -> None:
        """Goes on without the session, which the gateway does not have any more."""
        self._defaults = self._outside

    def end(self) -> Flow[None]:
        """Ends the session, if it has begun. The gateway ends one that is not used."""
        session_id = self._defaults.session_id
        if session_id is not None:
            self.forget()
            with suppress(SluiceError):
                yield from end_session(session_id, self._context)
