"""Bounds the requests of one caller in progress, so that other callers find a place."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.connections.peers import peer_of
from api.http.middleware.request_log import caller_in
from api.http.problems.http_errors import TooManyRequests
from api.http.problems.problems import problem_response

PER_FREE_PLACE = 3
"""A single caller gets three quarters of all places, two callers get three sevenths each, and so on."""


class CallerShares:
    """Counts requests by caller. Its methods must be called on the event loop's thread.

    For each free place, a caller may have `PER_FREE_PLACE` requests in progress. This applies to all places,
    and to the places of one address. So some places are always free, however many callers take all they can
    get.
    """

    def __init__(self, places: int, places_per_peer: int) -> None:
        self._places = places
        self._places_per_peer = min(places, places_per_peer)
        self._taken: Counter[str] = Counter()
        self._taken_by: Counter[tuple[str, str]] = Counter()

    def take(self, caller: str, peer: str) -> bool:
        """Takes a place for a request, and says whether there was one; if so, it needs a `give_back`."""
        if not (
            self._has_room(caller, "", self._places) and self._has_room(caller, peer, self._places_per_peer)
        ):
            return False
        for group in ("", peer):
            self._taken[group] += 1
            self._taken_by[group, caller] += 1
        return True

    def give_back(self, caller: str, peer: str) -> None:
        """Releases the place of a request that has ended."""
        for group in ("", peer):
            self._taken[group] -= 1
            self._taken_by[group, caller] -= 1
            if not self._taken_by[group, caller]:
                del self._taken_by[group, caller]
            if not self._taken[group]:
                del self._taken[group]

    def _has_room(self, caller: str, group: str, places: int) -> bool:
        free = places - self._taken[group]
        return self._taken_by[group, caller] < PER_FREE_PLACE * free


class FairShares:
    """ASGI middleware: rejects a caller's request beyond its share. Requests without a caller pass."""

    def __init__(self, app: ASGIApp, shares: CallerShares) -> None:
        self._app = app
        self._shares = shares

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        caller = caller_in(scope)
        if caller is None:
            await self._app(scope, receive, send)
            return
        peer = peer_of(scope.get("client"))
        if not self._shares.take(caller, peer):
            await problem_response(TooManyRequests(), scope["path"])(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._shares.give_back(caller, peer)
