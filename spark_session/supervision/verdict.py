"""Decides on a session by its signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.model.operations.engine_signs import EngineLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineBounds:
    """How long a state may last before the engine counts as down, or is replaced. Seconds.

    `grace_s`: how soon a call or a task must return after it was asked to end; after that it is given up.
    Those that go on for as long again count for `max_given_up`.
    """

    probe_interval_s: float = 1.0
    probe_timeout_s: float = 3.0
    unresponsive_s: float = 15.0
    grace_s: float = 5.0
    max_given_up: int = 4
    given_up_timeout_s: float = 30.0
    quarantine_s: float = 300.0
    max_collection_percent: int = 80
    collection_window_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Signs:
    """The known signs of a session.

    `silent_s`: how long its trial query has not been answered. `given_up_calls` and `given_up_tasks`: how
    many seconds ago each was given up. `collection_share`: the share of the last seconds that the JVM paused
    for garbage collection; None while it is not known.
    """

    silent_s: float
    failure: str | None
    given_up_calls: Sequence[float]
    given_up_tasks: Sequence[float]
    slots: int
    collection_share: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`is_up`: queries can be answered. `loss`: why only a new engine helps, if so.

    `given_up_count`: how much still runs although it was given up, unless the engine is down for another
    reason.
    """

    is_up: bool
    loss: EngineLoss | None = None
    detail: str = ""
    given_up_count: int = 0

    @property
    def must_be_replaced(self) -> bool:
        """Whether only a new engine helps."""
        return self.loss is not None


def judge(signs: Signs, bounds: EngineBounds) -> Verdict:
    """Returns the verdict of the first rule that holds, the worst one first.

    >>> healthy = Signs(0.0, None, (), (), 2, 0.01)
    >>> judge(healthy, EngineBounds())
    Verdict(is_up=True, loss=None, detail='', given_up_count=0)
    """
    given_up_count = len(signs.given_up_calls) + len(signs.given_up_tasks)
    if signs.silent_s >= bounds.unresponsive_s:
        return Verdict(False, EngineLoss.NOT_RESPONDING, _silence(signs))
    share = signs.collection_share
    if share is not None and 100 * share >= bounds.max_collection_percent:
        detail = f"It spent {100 * share:.0f} % of its time in garbage collection."
        return Verdict(False, EngineLoss.GARBAGE_COLLECTION, detail)
    if _are_too_many(signs, bounds):
        return Verdict(False, EngineLoss.GIVEN_UP, _given_up(signs), given_up_count)
    if signs.silent_s >= bounds.probe_timeout_s:
        return Verdict(False, detail=_silence(signs))
    if signs.failure is not None:
        return Verdict(False, detail=f"Its trial query fails: {signs.failure}")
    return Verdict(True, detail=_given_up(signs), given_up_count=given_up_count)


def _silence(signs: Signs) -> str:
    return f"It has not answered a trial query for {signs.silent_s:.0f} s."


def _are_too_many(signs: Signs, bounds: EngineBounds) -> bool:
    given_up = (*signs.given_up_calls, *signs.given_up_tasks)
    has_no_slot = len(signs.given_up_tasks) >= signs.slots
    is_overdue = max(given_up, default=0.0) >= bounds.given_up_timeout_s
    # Planning ignores a cancellation: on a busy machine, many harmless calls are late for a moment.
    lasting = [seconds for seconds in given_up if seconds >= bounds.grace_s]
    return has_no_slot or is_overdue or len(lasting) >= bounds.max_given_up


def _given_up(signs: Signs) -> str:
    calls, tasks = len(signs.given_up_calls), len(signs.given_up_tasks)
    if not calls and not tasks:
        return ""
    return f"Given up and still running: {calls} calls, {tasks} tasks."
