"""Compares the clocks of this machine and of its stores."""

from __future__ import annotations

from collections.abc import Mapping

from api.cli.part_checks import Found, State
from service.model.operations.store_answer import StoreAnswer

WARNED_MS = 2_000
FAILED_MS = 30_000
_CURE = "Let NTP or chrony set the clocks of both machines."


def clock_skew(answers: Mapping[str, StoreAnswer]) -> Found:
    """Compares this machine's clock with those of the stores that answered, by name.

    A skew does harm in several ways. Replicas and the store order queries and ingests by time. Records are
    kept for days that one clock begins and another ends. The newest filters are found by the time at which
    they were stored. `current_timestamp` differs between the gateway, which folds it, and the executors. From
    30 s on, bearer tokens and signed requests to object stores, which are valid for minutes, begin to be
    rejected. Half of the round trip may not be skew, and does not count as such.
    """
    if not answers:
        return Found("No store answered, so there is no clock to compare with.", State.SKIPPED)
    reported = "; ".join(f"{name} is {_said(answer.ahead_ms)}" for name, answer in answers.items())
    worst_ms = max(abs(answer.ahead_ms) - answer.round_trip_ms / 2 for answer in answers.values())
    if worst_ms >= FAILED_MS:
        return Found(reported, State.FAILED, _CURE)
    if worst_ms >= WARNED_MS:
        return Found(reported, State.WARNING, _CURE)
    return Found(reported)


def _said(ahead_ms: float) -> str:
    """Describes a skew, to a tenth of a second.

    >>> _said(-61_040), _said(1_500), _said(20)
    ('61.0 s behind', '1.5 s ahead', 'less than 0.1 s away')
    """
    if abs(ahead_ms) < 100:
        return "less than 0.1 s away"
    return f"{abs(ahead_ms) / 1000:.1f} s {'ahead' if ahead_ms > 0 else 'behind'}"
