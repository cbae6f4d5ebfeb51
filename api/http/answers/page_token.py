"""Where the next page of a list begins, as callers carry it."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from uuid import UUID

from api.http.problems.errors import Fault, InvalidRequest
from service.model.query.history import QueryPosition


def page_token(position: QueryPosition) -> str:
    """The position in letters that an address may hold.

    >>> from datetime import UTC
    >>> position = QueryPosition(datetime(2026, 1, 1, tzinfo=UTC), UUID(int=7))
    >>> position_of(page_token(position)) == position
    True
    """
    return urlsafe_b64encode(f"{position.submitted_at.isoformat()} {position.query_id}".encode()).decode()


def position_of(token: str) -> QueryPosition:
    """The position that a token was made of.

    Raises:
        InvalidRequest: it is none of ours.
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
