"""Tracks the open connections of each peer, and chooses which one to close when there are too many."""

from __future__ import annotations

from collections import Counter
from enum import Enum, auto
from typing import Protocol

SPARE_CONNECTIONS = 32
"""Beyond all bounds, so that probes are answered even when a caller has used up its share."""


class Connection(Protocol):
    """The interface of an open connection."""

    peer: str

    def is_slow(self) -> bool:
        """Whether its body arrives slower than the operator allows."""
        ...

    def drop(self) -> None:
        """Closes the connection to make room for another one."""
        ...


class Admission(Enum):
    """How much a new connection may ask for."""

    WHOLLY = auto()
    FOR_PROBES = auto()


class Census:
    """All open connections. Its methods must be called on the event loop's thread.

    Beyond a bound, a new connection replaces the one that has waited longest for its client to send a head,
    or one whose body is too slow: half-sent requests cannot keep others out. If every connection has a
    request in progress, the new one may only send probes.
    """

    def __init__(self, max_connections: int, max_per_peer: int, max_spare: int = SPARE_CONNECTIONS) -> None:
        self._max_connections = max_connections
        self._max_per_peer = max_per_peer
        self._max_spare = max_spare
        # Dictionaries keep their order: the first connection has waited longest.
        self._open: dict[Connection, None] = {}
        self._spare: dict[Connection, None] = {}
        self._waiting: dict[Connection, None] = {}
        self._of_peer: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open) + len(self._spare)

    def enter(self, connection: Connection) -> Admission:
        """Counts a new connection, and says what it may ask for."""
        if self._has_room(connection.peer):
            self._open[connection] = None
            self._of_peer[connection.peer] += 1
            return Admission.WHOLLY
        if len(self._spare) >= self._max_spare:
            self._drop(next(iter(self._spare)))
        self._spare[connection] = None
        return Admission.FOR_PROBES

    def waits(self, connection: Connection) -> None:
        """Notes that the client now has to begin or finish a head."""
        if connection in self._open:
            self._waiting[connection] = None

    def waits_no_more(self, connection: Connection) -> None:
        """Notes that the head is complete."""
        self._waiting.pop(connection, None)

    def leave(self, connection: Connection) -> None:
        """Removes a connection that is closed or closing."""
        self._waiting.pop(connection, None)
        self._spare.pop(connection, None)
        if connection in self._open:
            del self._open[connection]
            self._of_peer[connection.peer] -= 1
            if not self._of_peer[connection.peer]:
                del self._of_peer[connection.peer]

    def _has_room(self, peer: str) -> bool:
        if self._of_peer[peer] >= self._max_per_peer:
            return self._makes_room(peer)
        return len(self._open) < self._max_connections or self._makes_room(None)

    def _makes_room(self, peer: str | None) -> bool:
        for connections in (self._waiting, self._open):
            for connection in connections:
                if peer not in (None, connection.peer):
                    continue
                if connections is self._waiting or connection.is_slow():
                    self._drop(connection)
                    return True
        return False

    def _drop(self, connection: Connection) -> None:
        self.leave(connection)
        connection.drop()
