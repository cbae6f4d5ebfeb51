"""With which rights a request may be asked again, if its caller is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from service.errors.gateway_error import GatewayError
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.history import FrequentQuery
from service.model.query.query import QueryRequest
from service.policies.decided_access import DecidedAccess
from service.query.filtering.asked_requests import AskedRequest, AskedRequests, UsedRights

RequestsOf = Callable[[FrequentQuery], Iterator[tuple[QueryRequest, Access | None]]]


class PrefetchRights:
    """Yields requests with the rights that their sets are collected with.

    A set belongs to the restrictions that it was collected under, and is found by no query that has others.
    If policies decide (`is_governed`), only the rights of a caller who asked here lately are used, and only
    while policies still allow everything that they allowed, with the same rows and values.
    """

    def __init__(self, asked: AskedRequests, within_ms: int, *, is_governed: bool) -> None:
        self._asked = asked
        self._within_ms = within_ms
        self._is_governed = is_governed

    def now(self) -> RequestsOf:
        """Returns what yields a text's requests, the most frequent first, as they have been asked by now.

        A request comes without rights if it may not be asked at the moment when it is yielded.
        """
        return partial(self._of, self._asked.by_text(self._within_ms))

    def _of(
        self, asked: Mapping[FrequentQuery, Sequence[AskedRequest]], text: FrequentQuery
    ) -> Iterator[tuple[QueryRequest, Access | None]]:
        for each in asked.get(text, ()):
            if self._is_governed:
                yield each.request, None if each.rights is None else _renewed(each.rights)
            elif each.rights is None:
                yield each.request, FULL_ACCESS
        if text not in asked and not self._is_governed:
            # Asked of another replica, or before the start. Records have no values of parameters.
            yield QueryRequest(text.sql, catalog=text.catalog, schema=text.schema), FULL_ACCESS


def _renewed(rights: UsedRights) -> Access | None:
    """Returns the same rights by the policies of the moment; None if these are not the same rights."""
    try:
        now = rights.renewed()
        holds = rights.notes.hold_for(now)
    except GatewayError:
        return None
    # A value of its own, since the query's notes say what the query has used.
    return DecidedAccess(now, rights.renewed, rights.principal) if holds else None
