"""Key sets that are collected before a query asks for them."""

from __future__ import annotations

from enum import StrEnum


class PrefetchOutcome(StrEnum):
    """How the prefetch of one key set ended."""

    COLLECTED = "COLLECTED"
    CARRIED_OVER = "CARRIED_OVER"
    CONTAINED = "CONTAINED"
    CACHED = "CACHED"
    """A query or another replica had collected it before."""
    ELSEWHERE = "ELSEWHERE"
    """A query or another replica collects it now."""
    INTERRUPTED = "INTERRUPTED"
    """A collection of a query needed the thread, or the gateway ends."""
    LATE = "LATE"
    FAILED = "FAILED"
    NOT_ALLOWED = "NOT_ALLOWED"
    """Policies show other rows by now, or are not known; nothing was collected."""
