"""Ingest metrics that store the values they are given."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.ingest.commit_rounds import IngestBacklog
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import Committable


class FakeIngestMetrics:
    def __init__(self) -> None:
        self.records: list[IngestRecord] = []
        self.codes: list[str] = []
        self.rejected_count = 0
        self.failed_count = 0
        self.rounds: list[tuple[Committable, str | None]] = []
        self.postponed: list[str] = []
        self.lags_ms: list[int] = []
        self.waiting: IngestBacklog | None = None

    def accepted(self, record: IngestRecord) -> None:
        self.records.append(record)

    def refused(self, code: str) -> None:
        self.codes.append(code)

    def rejected(self, record_count: int) -> None:
        self.rejected_count += record_count

    def round_ended(self, committable: Committable, error_code: str | None, took_ms: int) -> None:  # noqa: ARG002
        self.rounds.append((committable, error_code))

    def round_postponed(self, code: str) -> None:
        self.postponed.append(code)

    def committed_after(self, lags_ms: Sequence[int]) -> None:
        self.lags_ms.extend(lags_ms)

    def failed(self, ingest_count: int) -> None:
        self.failed_count += ingest_count

    def backlog(self, backlog: IngestBacklog) -> None:
        self.waiting = backlog
