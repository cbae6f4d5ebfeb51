"""Reads the time of this machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class ProcessClock:
    """The `Clock` port for the HTTP edge, which authenticates requests before the gateway is built."""

    def now(self) -> datetime:
        """Returns the wall clock, in UTC."""
        return datetime.now(UTC)

    def elapsed_ms(self) -> int:
        """Returns milliseconds on a clock that never goes back."""
        return time.monotonic_ns() // 1_000_000
