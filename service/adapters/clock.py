"""Time from the machine's own clocks."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """The `Clock` port on the machine's own clocks."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return datetime.now(UTC)

    def elapsed_ms(self) -> int:
        """Milliseconds on a monotonic clock; its zero is arbitrary."""
        return time.monotonic_ns() // 1_000_000
