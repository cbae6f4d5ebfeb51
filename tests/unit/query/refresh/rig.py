"""Queries that may be refreshed, run one step at a time over fakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from service.model.query.refresh import RefreshOutcome
from service.model.query.results import Column
from service.model.query.reuse import PlanReads, Reused, ReuseKind, TableRead
from service.model.query.rewrites import RewriteKind
from service.model.tables.tables import TableColumn, TableFacts, TableName
from service.ports.bounded_calls import BoundedCalls
from service.query.execution.run_query import QueryPorts
from service.query.filtering.detection.in_process import InProcess
from service.query.refresh.aggregation_reader import AggregationReader
from service.query.refresh.expanded_texts import ExpandedTexts
from service.query.refresh.kept_states import KeptStates
from service.query.refresh.merged_answers import MergedAnswers
from service.query.refresh.refresh_plans import RefreshPlans
from service.query.refresh.refresher import RefreshBounds, Refresher, RefreshParts
from service.query.refresh.state_reader import StateBounds, StateReader
from service.query.registry.query_handle import QueryHandle
from tests.fakes.describer import FakeDescriber
from tests.fakes.engine import engine_result
from tests.fakes.held_rows import FakeHeldRows
from tests.unit.query.reuse.rig import ITEM, SALES, SQL, Rig

LAKE = frozenset({"lake"})
RESULT = (Column("sum(paid)", "BIGINT", is_nullable=True),)
PROBE = "SELECT min(paid) AS __p0, sum(paid) AS __p1 FROM sales"
TYPES = (Column("__p0", "BIGINT", is_nullable=True), Column("__p1", "BIGINT", is_nullable=True))
STATE_COLUMNS = (
    Column("__a0", "BIGINT", is_nullable=True),
    Column("__b0", "DECIMAL(30,0)", is_nullable=True),
)


def state_rows(total: int, without_signs: int | None = None) -> pa.Table:
    """Returns the state of `SQL` over rows that are together so much."""
    bound = Decimal(abs(total) if without_signs is None else without_signs)
    return pa.table({"__a0": pa.array([total], pa.int64()), "__b0": pa.array([bound], pa.decimal128(30, 0))})


@dataclass
class RefreshRig(Rig):
    """A rig whose fact and dimension have columns and snapshots, and whose engine's answers are scripted."""

    describer: FakeDescriber = field(default_factory=FakeDescriber)
    held: FakeHeldRows = field(default_factory=FakeHeldRows)
    calls: BoundedCalls = field(default_factory=InProcess)
    state_bounds: StateBounds = field(default_factory=lambda: StateBounds(max_rows=100, max_bytes=10_000))
    refresh_bounds: RefreshBounds = field(default_factory=lambda: RefreshBounds(min_table_bytes=0))
    max_states: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (SALES, ITEM):
            columns = tuple(TableColumn(number, column, "long", False) for number, column in ((1, "paid"),))
            self.change(name, columns=columns, snapshot_schema_id=0)
        self.knows(SQL, SALES)
        self.describer.columns |= {SQL: RESULT, PROBE: TYPES}
        self.bench.engine.answer = replace(engine_result(), columns=RESULT)
        self.refresher = self.new_refresher()

    def new_refresher(self) -> Refresher:
        """Builds the refresh over the parts as they are now."""
        bench = self.bench
        return Refresher(
            RefreshParts(
                plans=RefreshPlans(
                    AggregationReader(self.describer, self.facts, self.calls, LAKE),
                    ExpandedTexts(bench.ports.pruner, self.views),
                ),
                states=KeptStates(bench.clock, self.max_states, 1 << 20, 60_000),
                reader=StateReader(bench.ports.pruner, self.calls, LAKE, self.state_bounds),
                answers=MergedAnswers(self.held, self.state_bounds),
                clock=bench.clock,
            ),
            self.refresh_bounds,
        )

    @property
    def ports(self) -> QueryPorts:
        return replace(super().ports, refresh=self.refresher)

    def knows(self, sql: str, *tables: TableName) -> None:
        """Has the engine know the text as one that reads these tables."""
        self.facts.put(sql, *tables)
        self.facts.reads[sql] = tuple(self.read(name, is_version=False) for name in tables)

    def facts_now(self, name: TableName = SALES) -> TableFacts:
        """Returns the table as it is."""
        return self.bench.catalogs.facts(name)

    def change(self, name: TableName = SALES, **changes: Any) -> None:
        """Changes what the catalog says of a table."""
        self.bench.catalogs.put(replace(self.facts_now(name), **changes))

    def commit(self, operation: str) -> None:
        """Commits something else to the fact than an append."""
        self.bench.catalogs.append(SALES, 1)
        newest, *others = self.facts_now().snapshots
        self.change(snapshots=(replace(newest, operation=operation), *others))

    def read(self, name: TableName = SALES, **changes: Any) -> TableRead:
        """Returns how the engine reads a table that is pinned."""
        facts = self.facts_now(name)
        plain = TableRead(
            name, facts.table_uuid, facts.schema_id, facts.metadata_location, facts.snapshot_id, True
        )
        return replace(plain, **changes)

    def script(self, rows: pa.Table, *reads: TableRead, is_truncated: bool = False) -> None:
        """Has the engine answer the next read of a state."""
        found = replace(
            engine_result(),
            rows=rows,
            columns=STATE_COLUMNS,
            is_truncated=is_truncated,
            reads=lambda: PlanReads(reads),
        )
        self.bench.engine.outcomes.append(found)

    def script_full(self, total: int = 5) -> None:
        """Has the engine read the whole fact next."""
        self.script(state_rows(total), self.read())

    def script_delta(self, total: int = 2, without_signs: int | None = None) -> None:
        """Has the engine read added files next."""
        self.script(state_rows(total, without_signs), self.read(is_version=False, has_options=True))

    def texts(self) -> Sequence[str]:
        """Returns what the engine ran since the last call."""
        runs = self.bench.engine.runs
        found = [statement.sql for statement in runs]
        runs.clear()
        return found

    def outcomes(self) -> Mapping[RefreshOutcome, int]:
        """Returns the outcomes that there were."""
        return {outcome: count for outcome, count in self.refresher.outcomes.items() if count}


def refreshed(query: QueryHandle) -> Reused | None:
    """Returns the query whose state answered this one; None if it ran in full."""
    reused = query.record.reused
    return reused if reused is not None and reused.kind is ReuseKind.REFRESHED else None


def said(query: QueryHandle) -> str:
    """Returns what the record says of the refresh."""
    [found] = [rewrite for rewrite in query.record.rewrites if rewrite.kind is RewriteKind.REFRESH]
    return found.detail
