"""The audit log in memory, and a trail that keeps all events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from service.errors.policy_errors import AuditLogFull
from service.errors.unavailable import MetricsStoreDown
from service.model.audit.events import (
    Action,
    AuditEntry,
    AuditEvent,
    AuditSelection,
    Details,
    Origin,
    Outcome,
)
from service.ports.clock import Clock
from service.ports.stores.audit_log import TakeEvents
from tests.fakes.clock import FakeClock

SHORTEST_RETENTION = timedelta(days=1)
ORIGIN = Origin("ada", "key", ("admin", "reader"), "people", "0" * 16, "10.0.0.7", "r-1")


class FakeAuditLog:
    """The `AuditLog` port. While `is_down`, it does not answer. It never accepts the events of `rejected`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: list[AuditEntry] = []
        self._position = 0
        self.is_down = False
        self.rejected: set[UUID] = set()
        self.batches: list[int] = []

    @property
    def events(self) -> list[AuditEvent]:
        """All stored events."""
        return [entry.event for entry in self._entries]

    def add(self, events: Sequence[AuditEvent]) -> None:
        if self.is_down or any(event.event_id in self.rejected for event in events):
            raise MetricsStoreDown
        self.batches.append(len(events))
        known = {event.event_id for event in self.events}
        for event in events:
            if event.event_id not in known:
                self._position += 1
                self._entries.append(AuditEntry(self._position, self._clock.now(), event))

    def entries(self, selection: AuditSelection) -> Sequence[AuditEntry]:
        self._check()
        return [entry for entry in self._entries if _is_selected(entry, selection)][: selection.limit]

    def forget(self, older_than: timedelta) -> int:
        self._check()
        oldest = self._clock.now() - max(older_than, SHORTEST_RETENTION)
        left = [entry for entry in self._entries if entry.stored_at >= oldest]
        forgotten, self._entries = len(self._entries) - len(left), left
        return forgotten

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


class FakeTrail:
    """The `AuditTrail` port: keeps all events, or takes none if `is_full`."""

    def __init__(self) -> None:
        self.events: list[AuditEvent] = []
        self.reserved = 0
        self.is_full = False
        self.take: TakeEvents | None = None

    def reserve(self) -> None:
        if self.is_full:
            raise AuditLogFull
        self.reserved += 1

    def write(self, event: AuditEvent, *, is_reserved: bool = False) -> None:
        self.reserved -= is_reserved
        self.events.append(event)

    def follow(self, take: TakeEvents) -> None:
        self.take = take


def _is_selected(entry: AuditEntry, selection: AuditSelection) -> bool:
    return (
        entry.position > selection.after
        and (selection.since is None or entry.stored_at >= selection.since)
        and (selection.until is None or entry.stored_at < selection.until)
        and selection.principal in (None, entry.event.origin.principal)
        and selection.action in (None, entry.event.action)
    )


def full_event(principal: str = "ada", action: str = Action.QUERY) -> AuditEvent:
    """Returns an event with a value in each field."""
    details = Details(
        query_id=uuid4(),
        ingest_id=uuid4(),
        target="ü 'of' a test",
        fingerprint="f" * 64,
        statement="SELECT 1",
        tables=("lake.a.t", "lake.a.u"),
        columns={"lake.a.t": ("x", "y"), "lake.a.u": ()},
        policies=("eu_only",),
        row_count=7,
        byte_count=8,
        is_shortened=True,
    )
    origin = Origin(
        principal, ORIGIN.kind, ORIGIN.roles, ORIGIN.caller_class, ORIGIN.key_id, ORIGIN.address, "r-1"
    )
    return AuditEvent(
        event_id=uuid4(),
        at=FakeClock().now(),
        action=action,
        outcome=Outcome.FAILED,
        origin=origin,
        details=details,
        error_code="QUERY_FAILED",
        duration_ms=12,
        count=3,
    )


def short_event() -> AuditEvent:
    """Returns an event with only the required fields."""
    return AuditEvent(
        event_id=uuid4(), at=FakeClock().now(), action=Action.KEYS_LISTED, outcome=Outcome.SUCCEEDED
    )
