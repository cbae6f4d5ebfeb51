"""Page tokens: positions in a list, as callers pass them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from uuid import UUID

from api.http.problems.http_errors import InvalidRequest
from service.faults import Fault
from service.model.query.history import QueryPosition
from service.model.tables.tables import TableName

_FAULT = Fault("send a nextPageToken as it was answered, or none for the first page", "/query/pageToken")


def page_token(position: QueryPosition) -> str:
    """Encodes the position in characters that an address may have.

    >>> from datetime import UTC
    >>> position = QueryPosition(datetime(2026, 1, 1, tzinfo=UTC), UUID(int=7))
    >>> position_of(page_token(position)) == position
    True
    """
    return urlsafe_b64encode(f"{position.submitted_at.isoformat()} {position.query_id}".encode()).decode()


def position_of(token: str) -> QueryPosition:
    """Returns the position that a token was made from.

    Raises:
        InvalidRequest: this gateway has not made the token.
    """
    try:
        moment, query_id = urlsafe_b64decode(token).decode().split(" ")
        submitted_at = datetime.fromisoformat(moment)
        if submitted_at.tzinfo is None:
            raise ValueError(moment)
        return QueryPosition(submitted_at, UUID(query_id))
    except ValueError:
        raise InvalidRequest([_FAULT]) from None


def name_token(name: TableName) -> str:
    """Encodes the name of a table in characters that an address may have.

    >>> name_of_token(name_token(TableName("lake", "shop.north", "sales")))
    TableName(catalog='lake', schema='shop.north', table='sales')
    """
    return urlsafe_b64encode(json.dumps([name.catalog, name.schema, name.table]).encode()).decode()


def name_of_token(token: str) -> TableName:
    """Returns the name that a token was made from.

    Raises:
        InvalidRequest: this gateway has not made the token.
    """
    try:
        parts = json.loads(urlsafe_b64decode(token))
        if not isinstance(parts, list) or len(parts) != 3 or not all(isinstance(part, str) for part in parts):
            raise ValueError(token)
        return TableName(*parts)
    except ValueError:
        raise InvalidRequest([_FAULT]) from None
