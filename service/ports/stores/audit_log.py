"""Ports of the audit log: the log itself, and the way to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol

from service.model.audit.events import AuditEntry, AuditEvent, AuditSelection


class AuditLog(Protocol):
    """Keeps events for all replicas. Nothing changes them, and only `forget` deletes them.

    Each method raises MetricsStoreDown if the store does not answer.
    """

    def add(self, events: Sequence[AuditEvent]) -> None:
        """Stores all events durably, or none. An event that is already stored stays as it is."""
        ...

    def entries(self, selection: AuditSelection) -> Sequence[AuditEntry]:
        """Returns the selected entries in the order of their positions.

        No entry is stored later at a position before one that was returned.
        """
        ...

    def forget(self, older_than: timedelta) -> int:
        """Deletes entries that were stored longer ago, at least a day ago, and returns how many."""
        ...


TakeEvents = Callable[[bool], Sequence[AuditEvent]]
"""Returns the events that are due, or all of them if the argument is True: the trail closes."""


class AuditTrail(Protocol):
    """Takes events on their way to the log. Never blocks. Any thread may call any method."""

    def reserve(self) -> None:
        """Reserves a place for an event, before anything is done that must be audited.

        Raises:
            AuditLogFull: there is no place, and the operator wants no action without its event.
        """
        ...

    def write(self, event: AuditEvent, *, is_reserved: bool = False) -> None:
        """Takes an event. With `is_reserved`, it uses a reserved place."""
        ...

    def follow(self, take: TakeEvents) -> None:
        """Takes events from this function, too, from now on. A second call replaces the function."""
        ...


class NoTrail:
    """The trail of a gateway that audits nothing."""

    def reserve(self) -> None:
        """See the port's `reserve`."""

    def write(self, event: AuditEvent, *, is_reserved: bool = False) -> None:
        """See the port's `write`."""

    def follow(self, take: TakeEvents) -> None:
        """See the port's `follow`."""


NO_TRAIL = NoTrail()
