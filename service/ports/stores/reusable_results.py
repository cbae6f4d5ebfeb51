"""Ports of the reuse of results: what a text reads, the state of views, and the results that are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

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

    def is_read_alike(self, statement: Statement, sql: str) -> bool:
        """Whether this text means to the engine what the statement means: the same plan and columns.

        Both are compared without policies, and with common table expressions and views in the places of their
        names. The statement is read in its session, the text without the session's views. Blocks.

        Raises:
            CallerError: one of the two is not a query or does not resolve, or may not be read.
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

    An index that other replicas share implements it as well. Its entries are hints then: the result
    store decides whether the rows are there and belong to the key. A hint has no chunks. If the
    others' entries cannot be asked for, it finds those of this replica.
    """

    def find(self, key: str) -> ReusableResult | None:
        """Returns the result under this key, and counts it as used now."""

    def put(self, key: str, result: ReusableResult) -> None:
        """Keeps the result under this key in the place of another one; others make room, the oldest first."""

    def drop(self, key: str, query_id: UUID) -> None:
        """Forgets the result under this key, if it is the one of this query."""

    def clear(self) -> int:
        """Forgets all results, and returns how many of this replica's there were. Their rows stay readable.

        Raises:
            FilterCacheDown: those of other replicas cannot be forgotten now.
        """

    @property
    def use(self) -> CacheUse:
        """How many results are kept, and their bytes."""


class RunLeases(Protocol):
    """Lets one replica at a time run what several are asked for. Thread-safe; never raises.

    A lease ends within seconds unless its holder renews it. Losing one is harmless: the same runs twice then.
    If nobody can be asked, everybody may run, and nothing is held.
    """

    def claim(self, name: str, holder: str) -> bool:
        """Returns whether this holder may run: it has the lease now, or nobody can be asked."""

    def renew(self, held: Mapping[str, str]) -> None:
        """Prolongs these leases, by name, as far as they are still those of their holders."""

    def release(self, name: str, holder: str) -> None:
        """Ends the lease, if it is still that of this holder."""

    def held(self, names: Collection[str]) -> Collection[str]:
        """Returns those of these leases that are held now."""


class NoRunLeases:
    """Implements `RunLeases` for a gateway that shares no results: everybody may run."""

    def claim(self, name: str, holder: str) -> bool:  # noqa: ARG002
        """See `RunLeases`."""
        return True

    def renew(self, held: Mapping[str, str]) -> None:
        """See `RunLeases`."""

    def release(self, name: str, holder: str) -> None:
        """See `RunLeases`."""

    def held(self, names: Collection[str]) -> Collection[str]:  # noqa: ARG002
        """See `RunLeases`."""
        return ()
