"""Page tokens: positions in a list, as callers pass them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from uuid import UUID

from api.http.problems.http_errors import InvalidRequest
from service.faults import Fault
from service.model.query.history import QueryPosition


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
        fault = Fault(
            "send a nextPageToken as it was answered, or none for the first page", "/query/pageToken"
        )
        raise InvalidRequest([fault]) from None
