"""States of views, read within a time limit."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from service.adapters.concurrency.bounded_calls import BoundedCalls
from service.model.tables.tables import TableName
from service.ports.stores.reusable_results import ViewStates

_CALLS_AT_MOST = 16
_LANE = "view-states"


class BoundedViewStates:
    """Implements `ViewStates`: a catalog that takes longer counts as down."""

    def __init__(self, states: ViewStates, timeout_s: float = 1.0) -> None:
        self._states = states
        self._timeout_s = timeout_s
        self._calls = BoundedCalls(_CALLS_AT_MOST, ())

    def states_of(self, views: Collection[TableName]) -> Mapping[TableName, str]:
        """See the port."""
        call = {_LANE: lambda: self._states.states_of(views)}
        return self._calls.answers(call, str, self._timeout_s).get(_LANE, {})
