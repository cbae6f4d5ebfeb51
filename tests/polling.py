"""Waits for what happens elsewhere, by looking again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Rarer with time: a poll costs both processes a millisecond or more, and a gateway starts for ten seconds.
FIRST_POLL_S = 0.01
LAST_POLL_S = 0.2


def until(probe: Callable[[], T], within_s: float = 30.0) -> T:
    """Polls until the probe returns something true, and returns that."""
    started_at = time.monotonic()
    while not (answer := probe()):
        waited_s = time.monotonic() - started_at
        assert waited_s < within_s, f"not within {within_s:g} s; the last answer was {answer!r}"
        # At most a tenth late.
        time.sleep(min(max(waited_s / 10, FIRST_POLL_S), LAST_POLL_S))
    return answer
