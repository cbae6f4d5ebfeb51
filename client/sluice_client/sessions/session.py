"""A session in which queries are sent, for blocking code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from types import TracebackType
from typing import Self
from uuid import UUID

from sluice_client.drivers.sync_driver import SyncDriver
from sluice_client.errors import ConnectionClosed, SluiceError
from sluice_client.options import QueryDefaults
from sluice_client.progress.steps import Progress
from sluice_client.querying import Querying
from sluice_client.retries import Context
from sluice_client.session_calls import (
    SessionOptions,
    SessionState,
    create_session,
    end_session,
    get_session,
)


class Session(Querying):
    """Queries that share a catalog, a schema, settings and temporary views: see `Connection.session`.

    `USE`, `SET`, `RESET` and `CREATE TEMPORARY VIEW` change it. Send the statements of one session one after
    the other. Any of its calls raises `SessionExpired` once the gateway does not have it any more.
    """

    def __init__(
        self,
        driver: SyncDriver,
        context: Context,
        defaults: QueryDefaults,
        progress: Callable[[], Progress],
        options: SessionOptions,
        is_closed: Callable[[], bool],
    ) -> None:
        """`is_closed` says whether the connection of the session is closed."""
        super().__init__(driver, context, defaults, progress)
        self._options = options
        self._is_closed = is_closed
        self._has_ended = False
        self._opening = Lock()

    @property
    def session_id(self) -> UUID | None:
        """The gateway's id of it; None before it is open."""
        return self._defaults.session_id

    def open(self) -> Self:
        """Creates it at the gateway, unless that was done before. `with` does the same.

        Raises:
            RequestInvalid: a session may not have one of its values.
            TooBusy: there are as many sessions as the gateway allows.
        """
        with self._opening:
            if self._defaults.session_id is None:
                self._check_usable()
                created = self._driver.run(create_session(self._options, self._context))
                self._defaults = replace(self._defaults, session_id=created.session_id)
        return self

    def state(self) -> SessionState:
        """Returns its values as they are now. This uses it, so it lasts from now on.

        Raises:
            SessionExpired: it is not there any more.
        """
        self._check_open()
        assert self._defaults.session_id is not None, "it is open"
        return self._run(get_session(self._defaults.session_id, self._context))

    def close(self) -> None:
        """Ends it. Its queries go on, and their results can be read. Closing twice is fine."""
        session_id = self._defaults.session_id
        if self._has_ended or session_id is None or self._is_closed():
            self._has_ended = True
            return
        self._has_ended = True
        self._driver.run(end_session(session_id, self._context))

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except SluiceError:
            # The first error counts. The gateway ends a session that is not used.
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"<Session {self.session_id}{', closed' if self._has_ended else ''}>"

    def _check_open(self) -> None:
        self._check_usable()
        if self._defaults.session_id is None:
            raise ConnectionClosed("the session is not open yet: use it in `with`, or call open()")

    def _check_usable(self) -> None:
        if self._has_ended:
            raise ConnectionClosed("the session is closed")
        if self._is_closed():
            raise ConnectionClosed("the connection of the session is closed")
