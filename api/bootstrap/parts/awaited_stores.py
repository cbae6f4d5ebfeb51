"""Lets a start wait for stores that are not up yet, and logs what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from service.errors.unavailable import ShuttingDown
from service.ports.clock import Clock

SAID_EVERY_MS = 5_000
PAUSE_S = 0.5

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AwaitedStore:
    """A store, and what it lacks now; None if it can be used."""

    name: str
    lack: Callable[[], str | None]


def await_stores(
    stores: Sequence[AwaitedStore],
    max_wait_s: float,
    clock: Clock,
    stopped_within: Callable[[float], bool],
) -> tuple[str, ...]:
    """Waits until each store can be used or the time is over; returns the names of unusable stores.

    Each store is asked at least once. `stopped_within` waits for the given seconds, and returns whether the
    process has to stop by then.

    Raises:
        ShuttingDown: the process has to stop.
    """
    began_ms = clock.elapsed_ms()
    said_ms: int | None = None
    waiting = tuple(stores)
    while waiting:
        lacks = {store: store.lack() for store in waiting}
        waiting = tuple(store for store, lack in lacks.items() if lack is not None)
        now_ms = clock.elapsed_ms()
        is_over = now_ms - began_ms >= max_wait_s * 1000
        if waiting and (is_over or said_ms is None or now_ms - said_ms >= SAID_EVERY_MS):
            said_ms = now_ms
            for store in waiting:
                _say(store.name, lacks[store], (now_ms - began_ms) // 1000, is_over=is_over)
        if is_over:
            break
        if waiting and stopped_within(PAUSE_S):
            raise ShuttingDown
    return tuple(store.name for store in waiting)


def _say(store: str, lack: str | None, waited_s: int, *, is_over: bool) -> None:
    if is_over:
        _log.warning("store_missing", store=store, detail=lack, waited_s=waited_s)
    else:
        _log.info("waiting_for_store", store=store, detail=lack, waited_s=waited_s)
