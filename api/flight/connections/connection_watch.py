"""Bounds the connections of Arrow Flight SQL, and ends those whose clients are silent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import structlog

from api.flight.connections.open_calls import OpenCalls
from api.flight.connections.own_sockets import OwnSockets, Peer
from api.http.connections.peers import peer_of
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock

LOOKS_EVERY_S = 0.5
_log = structlog.stdlib.get_logger("api.flight")


class End(StrEnum):
    """Why a connection was ended."""

    TOO_MANY = "too_many"
    NO_CALL = "no_call"
    IDLE = "idle"
    STALLED = "stalled"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchBounds:
    """How many connections there may be, and how long a client may be silent.

    `first_call_ms`: from the connection to its first call. `idle_ms`: from a call to the next one.
    `stalled_ms`: while all its calls wait for it.
    """

    max_connections: int
    max_per_peer: int
    first_call_ms: int
    idle_ms: int
    stalled_ms: int


@dataclass(frozen=True, slots=True)
class _Open:
    peer: Peer
    descriptor: int
    seen_ms: int
    has_calls: bool
    stalled_since_ms: int | None
    ended_ms: int | None

    @property
    def rank(self) -> tuple[bool, int]:
        """Who is ended first to make room: who has waited longest without a call, then the newest."""
        is_silent = self.ended_ms is None and not self.has_calls
        return (False, self.seen_ms) if is_silent else (True, -self.seen_ms)


class ConnectionWatch:
    """Looks at all connections again and again, in a thread of its own.

    Args:
        sockets: the connections.
        calls: their calls.
        bounds: what they may do.
        clock: the time.
    """

    def __init__(self, sockets: OwnSockets, calls: OpenCalls, bounds: WatchBounds, clock: Clock) -> None:
        self._sockets = sockets
        self._calls = calls
        self._bounds = bounds
        self._clock = clock
        self._seen_ms: dict[Peer, int] = {}
        self._worker = PeriodicWorker(
            "flight-connections", self.look, LOOKS_EVERY_S, at_end=self._sockets.close
        )

    def __len__(self) -> int:
        """How many connections there were at the last look."""
        return len(self._seen_ms)

    def start(self) -> None:
        """Begins to look; call it once."""
        self._worker.start()

    def close(self) -> None:
        """Looks no more."""
        self._worker.close()

    def look(self) -> None:
        """Ends the connections that are beyond a bound."""
        now_ms = self._clock.elapsed_ms()
        peers = self._sockets.peers()
        self._seen_ms = {peer: self._seen_ms.get(peer, now_ms) for peer in peers}
        self._calls.keep(frozenset(peers))
        found = [self._open(peer, descriptor) for peer, descriptor in peers.items()]
        ends = {each.peer: end for each in found if (end := self._silence(each, now_ms)) is not None}
        left = [each for each in found if each.peer not in ends]
        for peer in self._beyond_bounds(left):
            ends[peer] = End.TOO_MANY
        self._end(ends, peers)

    def _open(self, peer: Peer, descriptor: int) -> _Open:
        has_calls, stalled_since_ms, ended_ms = self._calls.of(peer)
        return _Open(peer, descriptor, self._seen_ms[peer], has_calls, stalled_since_ms, ended_ms)

    def _silence(self, each: _Open, now_ms: int) -> End | None:
        if each.has_calls:
            since_ms = each.stalled_since_ms
            is_stalled = since_ms is not None and now_ms - since_ms >= self._bounds.stalled_ms
            return End.STALLED if is_stalled else None
        if each.ended_ms is None:
            return End.NO_CALL if now_ms - each.seen_ms >= self._bounds.first_call_ms else None
        return End.IDLE if now_ms - each.ended_ms >= self._bounds.idle_ms else None

    def _beyond_bounds(self, found: list[_Open]) -> list[Peer]:
        """Returns the peers to end, so that each address and all together have as many as they may."""
        of_address = Counter(peer_of((each.peer.host, 0)) for each in found)
        count = len(found)
        ended = []
        for each in sorted(found, key=lambda each: each.rank):
            address = peer_of((each.peer.host, 0))
            if count > self._bounds.max_connections or of_address[address] > self._bounds.max_per_peer:
                count, of_address[address] = count - 1, of_address[address] - 1
                ended.append(each.peer)
        return ended

    def _end(self, ends: Mapping[Peer, End], peers: Mapping[Peer, int]) -> None:
        for peer in ends:
            self._sockets.end(peer, peers[peer])
        for reason, count in Counter(ends.values()).items():
            _log.info("flight_connections_ended", reason=reason, connections=count)
