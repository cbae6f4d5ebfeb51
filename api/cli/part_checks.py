"""Tries parts one by one, each within a bound, for `sluice check` and `sluice doctor`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from enum import StrEnum

from service.errors.gateway_error import GatewayError, PartDown
from service.model.operations.fault_text import fault_text
from service.single_flight import SingleFlight

WITHIN_S = 15.0


class State(StrEnum):
    """The outcome of a check.

    `WARNING`: it works, but something will harm it. `SKIPPED`: it was not tried, and the text says why.
    """

    OK = "OK"
    WARNING = "WARNING"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True, slots=True)
class Found:
    """The result of an attempt. `cure` says what to do about it; empty if nothing has to be done."""

    text: str
    state: State = State.OK
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of trying one part; `elapsed_ms` is how long that took."""

    part: str
    state: State
    text: str
    cure: str = ""
    elapsed_ms: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """One part, and how to try it: `attempt` returns a result, or raises a GatewayError with the cure.

    It is skipped if a part that it `needs` has failed or was skipped itself. `within_s` is its own time
    bound; None: the common one. `cure` says what to do if it fails.
    """

    part: str
    attempt: Callable[[], str | Found]
    needs: tuple[str, ...] = ()
    within_s: float | None = None
    cure: str = ""


def tried(
    checks: Iterable[Check], within_s: float = WITHIN_S, on_begin: Callable[[str], None] = lambda _: None
) -> Iterator[Finding]:
    """Yields the outcome of each part, in this order. A part that does not answer in time fails.

    No part stops the others, whatever it raises. `on_begin` is called with each part before it is tried.
    """
    states: dict[str, State] = {}
    for check in checks:
        on_begin(check.part)
        finding = _skipped(check, states) or _tried(
            check, within_s if check.within_s is None else check.within_s
        )
        states[check.part] = finding.state
        yield finding


def words_of(failure: BaseException) -> str:
    """Returns the failure's class and message, without addresses and secrets. Never raises."""
    if isinstance(failure, GatewayError):
        return failure.detail
    name = type(failure).__name__
    try:
        return fault_text(name, str(failure))
    except Exception:  # noqa: BLE001 -- Java's errors ask a JVM for their text, and it may be gone
        return name


def _skipped(check: Check, states: dict[str, State]) -> Finding | None:
    for need in check.needs:
        match states.get(need):
            case State.FAILED:
                return Finding(check.part, State.SKIPPED, f"It needs {need}, which failed.")
            case State.SKIPPED:
                return Finding(check.part, State.SKIPPED, f"It needs {need}, which was skipped.")
            case State.OK | State.WARNING | None:
                continue
    return None


def _tried(check: Check, within_s: float) -> Finding:
    began_s = time.monotonic()
    # In a thread of its own, since a part that hangs must not keep the process from ending.
    outcome = SingleFlight[str, str | Found]().start(check.part, check.attempt)
    try:
        answer = outcome.result(within_s)
        found = Found(answer) if isinstance(answer, str) else answer
    except GatewayError as failure:
        found = Found(_said(failure), State.FAILED, check.cure)
    except FutureTimeoutError:
        found = Found(f"It does not answer within {within_s:g} s.", State.FAILED, check.cure)
    except Exception as failure:  # noqa: BLE001 -- the outermost edge: what fails in a new way stops no other
        found = Found(words_of(failure), State.FAILED, check.cure)
    elapsed_ms = round(1000 * (time.monotonic() - began_s))
    return Finding(check.part, found.state, found.text, found.cure, elapsed_ms)


def _said(failure: GatewayError) -> str:
    """Returns what is down, and why. Callers of the gateway do not see the reason, but its operator does."""
    cause = failure.__cause__
    if not isinstance(failure, PartDown) or cause is None:
        return failure.detail
    return f"{failure.detail} {words_of(cause)}"
