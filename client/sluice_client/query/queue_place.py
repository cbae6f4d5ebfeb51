"""What is known of a query beyond its state: its place in the queue, and whose result it has.

Gateways that do not report it are fine, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a query waits."""

    position: int
    """1: the next of those that wait. 0: the query is being planned."""
    estimated_wait_ms: int | None
    """By the times of earlier queries; None until the gateway has measured some."""
    group: str
    """Its resource group."""


@dataclass(frozen=True, slots=True)
class Reused:
    """The earlier query whose result this is, and how old that was when it answered this query."""

    query_id: UUID
    age_ms: int


def queue_place_of(status: Mapping[str, Any]) -> QueuePlace | None:
    """Reads `queue` of a query's status; None if there is none, or it is not understood.

    >>> queue_place_of({"queue": {"position": 2, "estimatedWaitMs": None, "group": "global"}})
    QueuePlace(position=2, estimated_wait_ms=None, group='global')
    >>> queue_place_of({"queue": "?"})
    """
    found = status.get("queue")
    if not isinstance(found, Mapping):
        return None
    position, wait_ms, group = found.get("position"), found.get("estimatedWaitMs"), found.get("group")
    place = _count(position)
    if place is None:
        return None
    return QueuePlace(place, _count(wait_ms), group if isinstance(group, str) else "")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
