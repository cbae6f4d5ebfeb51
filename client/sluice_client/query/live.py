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


NOTHING_LIVE = Live()


def live_of(answer: Mapping[str, Any]) -> Live:
    """Reads `progress.percent`, of the answer or of its `status`.

    >>> live_of({"status": {"progress": {"percent": 40}}}), live_of({"progress": None})
    (Live(percent=40.0), Live(percent=None))
    """
    percent = _number(answer, "progress", "percent")
    return Live(percent if percent is not None and 0 <= percent <= 100 else None)


def _number(answer: Mapping[str, Any], group: str, name: str) -> float | None:
    for holder in (answer, answer.get("status")):
        found = holder.get(group) if isinstance(holder, Mapping) else None
        value = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None
