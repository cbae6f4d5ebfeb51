"""Sets a gateway's wall clock wrong, only for the drill in `tests/faults/test_clocks.py`.

Python imports this module at its start if this folder is on the path. Monotonic clocks stay right, as they do
when a machine's clock is set. Spark's JVM keeps the machine's clock.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from service.adapters import clock

OFF_BY_S = int(os.environ.get("DRILL_CLOCK_OFF_BY_S", "0"))
_time, _time_ns = time.time, time.time_ns


def _now(_: clock.SystemClock) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=OFF_BY_S)


def _wrong_time() -> float:
    return _time() + OFF_BY_S


def _wrong_time_ns() -> int:
    return _time_ns() + OFF_BY_S * 1_000_000_000


_clock: Any = clock.SystemClock
_clock.now = _now
time.time, time.time_ns = _wrong_time, _wrong_time_ns
