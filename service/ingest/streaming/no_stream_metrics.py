"""The `StreamMetrics` port where nothing is measured."""

from __future__ import annotations


class NoStreamMetrics:
    """A `StreamMetrics` port that records no numbers."""

    def batch_done(self) -> None:
        """Does nothing."""

    def failed(self, code: str) -> None:
        """Does nothing."""
