"""Ports of the reuse of results: what a text reads, the state of views, and the results that are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from service.model.operations.usage import CacheUse
from service.model.query.reuse import QueryFacts, ReusableResult
from service.model.tables.tables import TableName
from service.ports.engine.query_engine import Statement


class FactReader(Protocol):
    """Analyzes texts without running them."""

    def facts_of(self, statement: Statement) -> QueryFacts:
        """Returns what the statement reads, and whether its result may be reused. Blocks.

        Raises:
            CallerError: the statement is not a query, or its principal may not read something.
            QueryEnded, PartDown: as `Engine.run`.
        """


class ViewStates(Protocol):
    """The states of views."""

    def states_of(self, views: Collection[TableName]) -> Mapping[TableName, str]:
        """Returns the current state of each view, within about a second; never raises.

        It omits views that do not exist, and those whose catalog does not answer or does not say when it
        changed them. No two changes of a view have the same state.
        """


class ResultIndex(Protocol):
    """Finds the results that are kept for reuse, within bounds on their number and bytes. Thread-safe.

    An index that other replicas share implements it as well: it has only entries whose result this replica
    can read. If it cannot be asked, it finds nothing.
    """

    def find(self, key: str) -> ReusableResult | None:
        """Returns the result under this key, and counts it as used now."""

    def put(self, key: str, result: ReusableResult) -> None:
        """Keeps the result under this key in the place of another one; others make room, the oldest first."""

    def drop(self, key: str) -> None:
        """Forgets the result under this key, if there is one."""

    @property
    def use(self) -> CacheUse:
        """How many results are kept, and their bytes."""
