"""A query that may be answered from a state, and the tables that it is asked of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.tables import TableFacts, TableName
from service.ports.engine.query_engine import Engine, EngineResult
from service.query.refresh.growth import check_growth
from service.query.refresh.kept_states import KeptState
from service.query.refresh.refresh_plans import Refreshing
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.table_states import table_state


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its plan, and its tables as they are at `taken_at`. `key` is that of its state."""

    query: QueryHandle
    key: str
    refreshing: Refreshing
    tables: Mapping[TableName, TableFacts]
    taken_at: datetime
    engine: Engine

    @property
    def fact(self) -> TableFacts:
        """The table that may have grown."""
        return self.tables[self.refreshing.fact]

    @property
    def others(self) -> Mapping[TableName, str]:
        """The states of all other tables."""
        return {
            name: table_state(facts) or ""
            for name, facts in self.tables.items()
            if name != self.refreshing.fact
        }

    @property
    def snapshot_id(self) -> int:
        """The fact's snapshot.

        Raises:
            NotRefreshable: it has none.
        """
        if self.fact.snapshot_id is None:
            raise NotRefreshable(RefreshOutcome.NOT_PINNED)
        return self.fact.snapshot_id


def check_states(kept: KeptState, asked: Asked) -> None:
    """Checks that only appends lie between the state and the tables as they are asked for.

    Raises:
        NotRefreshable: something else was changed.
    """
    fact = asked.fact
    if (kept.table_uuid, kept.schema_id) != (fact.table_uuid, fact.schema_id):
        raise NotRefreshable(RefreshOutcome.SCHEMA_CHANGED)
    if dict(kept.others) != dict(asked.others):
        raise NotRefreshable(RefreshOutcome.OTHER_TABLE_CHANGED)
    check_growth(fact, kept.snapshot_id)


def new_state(asked: Asked, result: EngineResult) -> KeptState:
    """Returns the state that a query has read of its whole fact."""
    return KeptState(
        asked.query.query_id,
        asked.taken_at,
        asked.fact.table_uuid,
        asked.fact.schema_id,
        asked.snapshot_id,
        asked.others,
        result.columns,
        (result.rows,),
        result.applied,
    )
