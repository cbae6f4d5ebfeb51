"""How many queries wait and run at this moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from service.model.meters import MeterFamily, MeterKind, Sample
from service.model.query import QueryState
from service.query.live import LiveQuery


def open_queries(queries: Iterable[LiveQuery]) -> MeterFamily:
    """The queries that have not ended, by their state."""
    states = Counter(each.record.state for each in queries)
    samples = [
        Sample(states[state], {"state": state.value}) for state in (QueryState.QUEUED, QueryState.RUNNING)
    ]
    meaning = "Queries that wait or run now, by their state."
    return MeterFamily("sluice_queries_open", meaning, MeterKind.GAUGE, samples)
