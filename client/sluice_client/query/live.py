"""How far a query is that has not ended. Gateways that do not report it are fine, too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Live:
    """What is known: None if the gateway does not say it."""

    percent: float | None = None
    """The part of the query's work that is done, from 0 to 100."""
    queue_position: int | None = None
    """The number of queries that begin before this one, and this one."""


NOTHING_LIVE = Live()


def live_of(answer: Mapping[str, Any]) -> Live:
    """Reads `progress.percent` and `queue.position`, of the answer or of its `status`.

    >>> live_of({"status": {"progress": {"percent": 40}, "queue": {"position": 2}}})
    Live(percent=40.0, queue_position=2)
    >>> live_of({"progress": None, "queue": "?"})
    Live(percent=None, queue_position=None)
    """
    percent = _number(answer, "progress", "percent")
    position = _number(answer, "queue", "position")
    return Live(
        percent=percent if percent is not None and 0 <= percent <= 100 else None,
        queue_position=None if position is None or position < 0 else int(position),
    )


def _number(answer: Mapping[str, Any], group: str, name: str) -> float | None:
    for holder in (answer, answer.get("status")):
        found = holder.get(group) if isinstance(holder, Mapping) else None
        value = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None
