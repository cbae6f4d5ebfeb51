"""A query's time as one bar."""

from __future__ import annotations

from api.http.schemas.queries.explanation import timings
from service.model.query.explanation import Explanation


def timeline(explanation: Explanation) -> str:
    """Returns the stages of the query's time, one after the other, in proportion."""
    times = timings(explanation)
    parts = [
        ("queued", times.queued_ms),
        ("parse", times.parse_ms),
        ("detect", times.detect_ms),
        ("filters", times.filters_ms),
        ("plan", times.plan_ms),
        ("run", times.run_ms),
    ]
    spent = [(name, ms) for name, ms in parts if ms > 0]
    bars = "".join(
        f'<div class="{name}" style="flex-grow:{ms}" title="{name}: {ms} ms"></div>' for name, ms in spent
    )
    legend = "".join(f'<li class="{name}">{name} <b>{ms} ms</b></li>' for name, ms in parts)
    return f'<div class="times">{bars}</div><ul class="legend">{legend}</ul>'
