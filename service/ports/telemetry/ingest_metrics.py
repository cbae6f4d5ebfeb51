"""Counts ingests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.model.ingest.commit_rounds import IngestBacklog
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import Committable


class IngestMetrics(Protocol):
    """Metrics of what this process has ingested since its start. Nothing blocks, nothing raises."""

    def accepted(self, record: IngestRecord) -> None:
        """Counts an ingest that is durable now."""

    def refused(self, code: str) -> None:
        """Counts a request that was refused as a whole, by the code of its error."""

    def rejected(self, record_count: int) -> None:
        """Counts records that did not fit."""

    def round_ended(self, committable: Committable, error_code: str | None, took_ms: int) -> None:
        """Counts a commit round, and its ingests unless it was refused with an `error_code`."""

    def round_postponed(self, code: str) -> None:
        """Counts a commit round that is tried again, by the code of the error that stopped it."""

    def committed_after(self, lags_ms: Sequence[int]) -> None:
        """Counts how long ingests waited from their acceptance until they were in a table."""

    def failed(self, ingest_count: int) -> None:
        """Counts accepted ingests that one of their tables has refused."""

    def backlog(self, backlog: IngestBacklog) -> None:
        """Sets the current backlog."""
