"""Counts the queries that wait and run at this moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from service.model.query.query import QueryState
from service.query.registry.query_handle import QueryHandle


def open_queries(queries: Iterable[QueryHandle]) -> Mapping[QueryState, int]:
    """Returns the number of queries in each state that is not final, including zeros."""
    states = Counter(query.record.state for query in queries)
    return {state: states[state] for state in QueryState if not state.is_final}
