"""How often the server failed those who asked it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from enum import StrEnum


class FailureKind(StrEnum):
    """Whether the server said no, or said nothing that makes sense."""

    REFUSED = "REFUSED"
    NO_ANSWER = "NO_ANSWER"


class FailureCount:
    """Counts from its making. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(FailureKind, 0)

    def add(self, kind: FailureKind) -> None:
        """Counts one."""
        with self._lock:
            self._counts[kind] += 1

    def by_kind(self) -> Mapping[str, int]:
        """All of them."""
        with self._lock:
            return {kind.value: count for kind, count in self._counts.items()}
