"""Lets one of several equal queries run, while the others wait for its result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from uuid import UUID

from service.model.query.reuse import ReusableResult
from service.query.registry.query_handle import QueryHandle

HandOver = Callable[[QueryHandle], None]


@dataclass(frozen=True, slots=True)
class Follower:
    """A query that waits for an equal one, and the way to have it run instead.

    `key` is the result that it waits for; None: it is not known yet whether the two are equal.
    """

    query: QueryHandle
    hand_over: HandOver
    key: str | None


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A result that is kept for reuse, and its key."""

    key: str
    result: ReusableResult


@dataclass(slots=True)
class Flight:
    """A query that leads, those that follow it, and its result if that is kept."""

    leader: QueryHandle
    keys: set[Hashable] = field(default_factory=set)
    followers: list[Follower] = field(default_factory=list)
    kept: KeptResult | None = None


class EqualQueries:
    """Knows which query leads the others that wait for the same. Any thread may call it.

    A follower is an open query like any other: its own deadline and cancellation end it, and it counts as
    waiting. When its leader has ended, whoever takes it out decides whether it runs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_key: dict[Hashable, Flight] = {}
        self._by_leader: dict[UUID, Flight] = {}

    def join(self, shared: Hashable, follower: Follower) -> bool:
        """Makes the query follow the one that leads under this key, or lead; returns whether it follows."""
        with self._lock:
            flight = self._by_key.get(shared)
            if flight is None:
                self._lead(shared, follower.query)
                return False
            flight.followers.append(follower)
            return True

    def lead(self, shared: Hashable, query: QueryHandle) -> None:
        """Makes the query lead under this key too, unless another one does."""
        with self._lock:
            if shared not in self._by_key:
                self._lead(shared, query)

    def keep(self, query_id: UUID, kept: KeptResult) -> None:
        """Notes the leader's result for its followers; does nothing if the query does not lead."""
        with self._lock:
            flight = self._by_leader.get(query_id)
            if flight is not None:
                flight.kept = kept

    def take_undecided(self, query_id: UUID) -> list[Follower]:
        """Takes out the followers of this leader that do not know yet whether they are equal."""
        with self._lock:
            flight = self._by_leader.get(query_id)
            if flight is None:
                return []
            undecided = [follower for follower in flight.followers if follower.key is None]
            flight.followers = [follower for follower in flight.followers if follower.key is not None]
            return undecided

    def end(self, query_id: UUID) -> Flight | None:
        """Ends the lead of this query, and returns what it led; None if it led nothing."""
        with self._lock:
            flight = self._by_leader.pop(query_id, None)
            if flight is not None:
                for shared in flight.keys:
                    del self._by_key[shared]
            return flight

    def _lead(self, shared: Hashable, query: QueryHandle) -> None:
        flight = self._by_leader.setdefault(query.query_id, Flight(query))
        flight.keys.add(shared)
        self._by_key[shared] = flight
