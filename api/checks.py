"""Trying parts one by one, each within a bound."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass

from service.errors import GatewayError

WITHIN_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of trying one part."""

    part: str
    is_fine: bool
    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """One part, and how to try it: gives what was found, or raises a GatewayError that says what to mend."""

    part: str
    attempt: Callable[[], str]


def tried(checks: Iterable[Check], within_s: float = WITHIN_S) -> Iterator[Finding]:
    """Each part with what was found, in this order; one that does not answer in time fails."""
    for check in checks:
        outcome = _started(check)
        try:
            yield Finding(check.part, is_fine=True, text=outcome.result(within_s))
        except GatewayError as failure:
            yield Finding(check.part, is_fine=False, text=failure.detail)
        except FutureTimeoutError:
            yield Finding(check.part, is_fine=False, text=f"It does not answer within {within_s:g} s.")


def _started(check: Check) -> Future[str]:
    outcome: Future[str] = Future()

    def run() -> None:
        try:
            outcome.set_result(check.attempt())
        except BaseException as failure:  # noqa: BLE001 -- the edge of the thread: whoever waits gets it
            outcome.set_exception(failure)

    # A daemon, since a part that hangs must not keep the process from ending.
    threading.Thread(target=run, name=f"check-{check.part}", daemon=True).start()
    return outcome
