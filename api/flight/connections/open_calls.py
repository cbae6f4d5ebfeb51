"""Which calls are open on which connection, and for how long each waits for its client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.flight.connections.own_sockets import Peer, peer_named
from service.ports.clock import Clock


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call. `waits_since_ms`: since when it waits for its client to read or to send; None: it does not."""

    peer: Peer | None
    waits_since_ms: int | None = None


@dataclass(slots=True)
class Calls:
    """The calls of a connection that are open, and when the last one ended."""

    open: set[OpenCall] = field(default_factory=set)
    ended_ms: int = 0

    def stalled_since_ms(self) -> int | None:
        """Returns since when all open calls wait for the client; None: one of them does not."""
        since = [call.waits_since_ms for call in self.open]
        waiting = [at for at in since if at is not None]
        return max(waiting) if waiting and len(waiting) == len(since) else None


class OpenCalls:
    """All open calls by their connections. Any thread may call any method."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_peer: dict[Peer, Calls] = {}
        self._lock = threading.Lock()

    def begin(self, peer: str) -> OpenCall:
        """Notes a call of this peer, as gRPC names it."""
        call = OpenCall(peer_named(peer))
        if call.peer is not None:
            with self._lock:
                self._by_peer.setdefault(call.peer, Calls()).open.add(call)
        return call

    def end(self, call: OpenCall) -> None:
        """Notes that a call has ended."""
        with self._lock:
            calls = None if call.peer is None else self._by_peer.get(call.peer)
            if calls is not None:
                calls.open.discard(call)
                calls.ended_ms = self._clock.elapsed_ms()

    @contextmanager
    def waiting(self, call: OpenCall) -> Iterator[None]:
        """Notes that the call waits for its client."""
        call.waits_since_ms = self._clock.elapsed_ms()
        try:
            yield
        finally:
            call.waits_since_ms = None

    def of(self, peer: Peer) -> tuple[bool, int | None, int | None]:
        """Returns whether calls are open, since when all of them wait, and when the last one ended.

        The last one is None for a connection without any call.
        """
        with self._lock:
            calls = self._by_peer.get(peer)
            if calls is None:
                return False, None, None
            return bool(calls.open), calls.stalled_since_ms(), calls.ended_ms

    def keep(self, peers: frozenset[Peer]) -> None:
        """Forgets the connections of all other peers that have no open call."""
        with self._lock:
            for peer in [
                peer for peer, calls in self._by_peer.items() if not calls.open and peer not in peers
            ]:
                del self._by_peer[peer]
