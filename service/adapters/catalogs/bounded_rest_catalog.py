"""PyIceberg's REST catalog with timeouts, which it has no setting for, and with columns of variants."""

from __future__ import annotations

from typing import Any, cast

import orjson
from pydantic import ValidationError
from pyiceberg.catalog.rest import (
    _RETRY_ARGS,
    Endpoints,
    RestCatalog,
    TableResponse,
)
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.exceptions import ValidationError as NotValid
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import Identifier
from requests import HTTPError, PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter
from tenacity import Retrying

from service.adapters.catalogs.variant_type import with_variants


class BoundedRestCatalog(RestCatalog):
    """Ends every request after a time. PyIceberg itself reads tables, except those that have variants."""

    def __init__(self, name: str, timeout_s: float, **properties: str) -> None:
        self._timeout_s = timeout_s
        super().__init__(name, **properties)

    def load_table(self, identifier: str | Identifier) -> Table:
        """Overrides PyIceberg's, for tables with types that it does not know."""
        try:
            loaded: Table = super().load_table(identifier)
            return loaded
        except ValidationError as error:
            if error.title != TableResponse.__name__:
                raise
        return self._load_with_variants(identifier)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Overrides PyIceberg's, in the same way."""
        try:
            answer: CommitTableResponse = super().commit_table(table, requirements, updates)
            return answer
        except ValidationError as error:
            # Any other error is from before the request was sent. This one: the server has made the commit.
            if error.title != CommitTableResponse.__name__:
                raise
        committed = self._load_with_variants(table.name())
        return CommitTableResponse.model_construct(
            metadata=committed.metadata, metadata_location=committed.metadata_location
        )

    def _load_with_variants(self, identifier: str | Identifier) -> Table:
        # As PyIceberg does: if the token has expired, once more with a new one, of the first argument.
        retrying = Retrying(**cast(Any, _RETRY_ARGS))
        loaded: Table = retrying(BoundedRestCatalog._read_with_variants, self, identifier)
        return loaded

    def _read_with_variants(self, identifier: str | Identifier) -> Table:
        path = self._split_identifier_for_path(identifier)
        response = self._session.get(self.url(Endpoints.load_table, prefixed=True, **path))
        try:
            response.raise_for_status()
        except HTTPError as error:
            _handle_non_200_response(error, {404: NoSuchTableError})
        content = orjson.loads(response.content)
        if isinstance(content.get("metadata"), dict):
            content["metadata"] = with_variants(content["metadata"])
        try:
            loaded = TableResponse.model_validate(content)
        except ValidationError as error:
            raise NotValid(error) from error
        table: Table = self._response_to_table(self.identifier_to_tuple(identifier), loaded)
        return table

    def _create_session(self) -> Session:
        session = super()._create_session()
        return self._bounded(session)

    def _create_legacy_oauth2_auth_manager(self, session: Session) -> Any:
        # A token may be requested already here.
        return super()._create_legacy_oauth2_auth_manager(self._bounded(session))

    def _bounded(self, session: Session) -> Session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, _BoundedAdapter(self._timeout_s))
        return session


class _BoundedAdapter(HTTPAdapter):
    """Gives every request a timeout; `requests` itself waits forever."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        super().__init__()

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        kwargs["timeout"] = kwargs.get("timeout") or self._timeout_s
        return super().send(request, *args, **kwargs)
