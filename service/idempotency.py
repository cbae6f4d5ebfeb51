"""Requests that are sent again: the same caller, requestId and body belong to what the first one began."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar
from uuid import UUID

from service.errors.query_errors import RequestIdReused


class Fingerprinted(Protocol):
    """A thing that a request began; equal fingerprints mean that two requests had the same body."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the request's body."""


R = TypeVar("R", bound=Fingerprinted)


def sent_before(
    find: Callable[[str, UUID], R | None], caller: str, request_id: UUID | None, fingerprint: str
) -> R | None:
    """Returns what `find` knows under the caller's id, if the request has one; the store's first one counts.

    Raises:
        RequestIdReused: it was begun by another body.
    """
    before = None if request_id is None else find(caller, request_id)
    return None if before is None else same_request(before, fingerprint)


def same_request(before: R, fingerprint: str) -> R:
    """Returns what an earlier request with the same id began.

    Raises:
        RequestIdReused: it was begun by another body.
    """
    if before.fingerprint != fingerprint:
        raise RequestIdReused
    return before
