"""Counts the server's failures."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from enum import StrEnum


class FailureKind(StrEnum):
    """How the server failed: it refused, or gave no valid answer."""

    REFUSED = "REFUSED"
    NO_ANSWER = "NO_ANSWER"


class FailureCount:
    """Counts from its creation on. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(FailureKind, 0)

    def add(self, kind: FailureKind) -> None:
        """Counts one failure."""
        with self._lock:
            self._counts[kind] += 1

    def by_kind(self) -> Mapping[str, int]:
        """All counts, by kind."""
        with self._lock:
            return {kind.value: count for kind, count in self._counts.items()}
