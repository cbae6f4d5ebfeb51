"""The `IngestMetrics` port where nothing is measured."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.ingest.commit_rounds import IngestBacklog
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import Committable


class NoIngestMetrics:
    """An `IngestMetrics` port that records no numbers."""

    def accepted(self, record: IngestRecord) -> None:
        """Does nothing."""

    def refused(self, code: str) -> None:
        """Does nothing."""

    def rejected(self, record_count: int) -> None:
        """Does nothing."""

    def round_ended(self, committable: Committable, error_code: str | None, took_ms: int) -> None:
        """Does nothing."""

    def round_postponed(self, code: str) -> None:
        """Does nothing."""

    def committed_after(self, lags_ms: Sequence[int]) -> None:
        """Does nothing."""

    def failed(self, ingest_count: int) -> None:
        """Does nothing."""

    def backlog(self, backlog: IngestBacklog) -> None:
        """Does nothing."""
