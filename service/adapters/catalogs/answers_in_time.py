"""Asks several catalogs at once, and waits only for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import wait
from functools import partial
from typing import TypeVar

import structlog

from service.errors.unavailable import CatalogDown
from service.single_flight import SingleFlight

T = TypeVar("T")

log = structlog.get_logger(__name__)


def answers_in_time(
    calls: SingleFlight[str, T], ask: Callable[[str], T], names: Iterable[str], within_s: float
) -> dict[str, T]:
    """Asks all of them at once, and returns the answers that come in time."""
    asked = {name: calls.start(name, partial(ask, name)) for name in names}
    answered, _ = wait(asked.values(), timeout=within_s)
    failures = {name: flight.exception() for name, flight in asked.items() if flight in answered}
    for name, failure in failures.items():
        if failure is not None and not isinstance(failure, CatalogDown):
            log.error("catalog_not_asked", catalog=name, exc_info=failure)
    return {name: asked[name].result() for name, failure in failures.items() if failure is None}
