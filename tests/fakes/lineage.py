"""Lineage that is stored, and transports that can be blocked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from service.adapters.lineage.transports import NotDelivered
from service.model.ingest.ingest import IngestRecord
from service.model.operations.maintenance import MaintenanceRecord
from service.model.query.lineage import EndedRound
from service.model.query.query import QueryRecord


class FakeLineage:
    """Stores what is reported to it."""

    def __init__(self) -> None:
        self.taken: list[QueryRecord] = []
        self.ended: list[QueryRecord] = []
        self.accepted: list[tuple[IngestRecord, str]] = []
        self.rounds: list[EndedRound] = []
        self.maintenances: list[MaintenanceRecord] = []

    @property
    def is_followed(self) -> bool:
        return True

    def query_taken(self, record: QueryRecord) -> None:
        self.taken.append(record)

    def query_ended(self, record: QueryRecord) -> None:
        self.ended.append(record)

    def ingest_accepted(self, record: IngestRecord, read_from: str) -> None:
        self.accepted.append((record, read_from))

    def round_ended(self, ended: EndedRound) -> None:
        self.rounds.append(ended)

    def maintained(self, record: MaintenanceRecord) -> None:
        self.maintenances.append(record)


class FakeTransport:
    """Takes events unless `failure` returns an error; while `may_go_on` is not set, calls do not return."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.attempts = 0
        self.failure: Callable[[], NotDelivered | None] = lambda: None
        self.is_closed = False
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.has_begun = threading.Event()

    def send(self, event: bytes, key: str) -> None:
        self.attempts += 1
        self.has_begun.set()
        self.may_go_on.wait(30)
        failure = self.failure()
        if failure is not None:
            raise failure
        reported = json.loads(event)
        assert b"\n" not in event
        assert key == reported["job"]["name"]
        self.events.append(reported)

    def close(self) -> None:
        self.is_closed = True


class FakeLineageMetrics:
    """Counts sent, dropped and undelivered events."""

    def __init__(self) -> None:
        self.sent_count = self.dropped_count = self.undelivered_count = 0

    def sent(self, count: int) -> None:
        self.sent_count += count

    def dropped(self, count: int) -> None:
        self.dropped_count += count

    def undelivered(self, count: int) -> None:
        self.undelivered_count += count
