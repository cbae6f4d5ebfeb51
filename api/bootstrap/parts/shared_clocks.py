"""The clocks for decisions that replicas share."""

from __future__ import annotations

from contextlib import ExitStack

from service.adapters.postgres.shared.store_clock import EarlierClock, StoreClock
from service.ports.clock import Clock


def store_clock(store_url: str, own: Clock, stack: ExitStack) -> StoreClock:
    """Returns PostgreSQL's clock, which is the same for all replicas."""
    clock = StoreClock(store_url, own)
    stack.callback(clock.close)
    return clock


def deletion_clock(store_url: str, own: Clock, stack: ExitStack) -> EarlierClock:
    """Returns the clock for deletions: the earlier of two, since one that is ahead would delete too much."""
    return EarlierClock(own, store_clock(store_url, own, stack))
