"""The clocks of what replicas decide together."""

from __future__ import annotations

from contextlib import ExitStack

from service.adapters.postgres.shared.store_clock import EarlierClock, StoreClock
from service.ports import Clock


def store_clock(store_url: str, own: Clock, stack: ExitStack) -> StoreClock:
    """PostgreSQL's, which is the same for all of them."""
    clock = StoreClock(store_url, own)
    stack.callback(clock.close)
    return clock


def deletion_clock(store_url: str, own: Clock, stack: ExitStack) -> EarlierClock:
    """The clock that deletion goes by: one that is ahead must not delete what is young."""
    return EarlierClock(own, store_clock(store_url, own, stack))
