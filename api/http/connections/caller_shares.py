"""How many requests one caller may have under way, so that another one finds a place for its own."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.connections.peers import peer_of
from api.http.middleware.request_log import caller_in
from api.http.problems.errors import TooManyRequests
from api.http.problems.problems import problem_response

PER_FREE_PLACE = 3
"""One caller alone gets three quarters of all places, two get three sevenths each, and so on."""


class CallerShares:
    """Counts requests by caller. Belongs to the event loop's thread.

    A caller may have `PER_FREE_PLACE` requests under way for each place that is free, of all places and of
    those of one address. So some are always free, however many callers take as many as they get.
    """

    def __init__(self, places: int, places_per_peer: int) -> None:
        self._places = places
        self._places_per_peer = min(places, places_per_peer)
        self._taken: Counter[str] = Counter()
        self._taken_by: Counter[tuple[str, str]] = Counter()

    def take(self, caller: str, peer: str) -> bool:
        """Whether the caller may begin one more; needs a `give_back` if so."""
        if not (
            self._has_room(caller, "", self._places) and self._has_room(caller, peer, self._places_per_peer)
        ):
            return False
        for group in ("", peer):
            self._taken[group] += 1
            self._taken_by[group, caller] += 1
        return True

    def give_back(self, caller: str, peer: str) -> None:
        """One has ended."""
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
    """ASGI middleware: refuses a caller's request beyond its share. Those of nobody in particular pass."""

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
