"""Counts the batches of streams."""

from __future__ import annotations

from typing import Protocol


class StreamMetrics(Protocol):
    """Metrics of the streams in this process since its start. Nothing blocks, nothing raises."""

    def batch_done(self) -> None:
        """Counts a micro-batch that is in its tables."""

    def failed(self, code: str) -> None:
        """Counts a run that failed, by the code of its error."""
