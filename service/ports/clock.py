"""The time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time, so that no test has to sleep."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""

    def elapsed_ms(self) -> int:
        """Milliseconds on a clock that never goes back."""
