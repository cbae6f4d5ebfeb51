"""Queries that are placed and run one step at a time, in the thread of the test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from service.adapters.reuse.local_index import LocalResultIndex
from service.errors.query_errors import QueryCanceled
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import QueryRecord, QueryRequest
from service.model.query.reuse import ReuseChoice
from service.model.tables.tables import TableName
from service.ports.stores.reusable_results import NoRunLeases, ResultIndex, RunLeases
from service.query.execution.run_query import QueryPorts, run_query
from service.query.registry.query_handle import QueryHandle
from service.query.registry.readable_results import ReadableResults
from service.query.registry.recorded import record
from service.query.reuse.result_reuse import ResultReuse
from service.query.reuse.reuse_lookup import ReuseBounds, ReusePorts
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.lineage import FakeLineage
from tests.fakes.reuse import FakeFactReader, FakeViewStates
from tests.unit.query.conftest import Bench

SALES, ITEM = TableName("lake", "shop", "sales"), TableName("lake", "shop", "item")
SQL = "SELECT sum(paid) FROM sales"


@dataclass
class Rig:
    """A bench with a reuse of results; `waiting` are queries that were handed over, and have not run."""

    bench: Bench = field(default_factory=Bench)
    views: FakeViewStates = field(default_factory=FakeViewStates)
    index: ResultIndex = field(default_factory=lambda: LocalResultIndex(100, 1 << 20))
    lineage: FakeLineage = field(default_factory=FakeLineage)
    bounds: ReuseBounds = field(default_factory=lambda: ReuseBounds(settings="of this engine"))
    waiting: list[QueryHandle] = field(default_factory=list)
    leases: RunLeases = field(default_factory=NoRunLeases)

    def __post_init__(self) -> None:
        for name in (SALES, ITEM):
            self.bench.catalogs.put(facts_of_empty_table(name))
            self.bench.catalogs.append(name, 10)
        self.facts = FakeFactReader(self.views)
        self.facts.put(SQL, SALES)
        self.reuse = self.new_reuse()

    def new_reuse(self) -> ResultReuse:
        """Builds the reuse of results over the parts as they are now."""
        bench = self.bench
        return ResultReuse(
            ReusePorts(
                facts=self.facts,
                views=self.views,
                catalogs=bench.catalogs,
                index=self.index,
                results=bench.results,
                readable=ReadableResults(bench.results),
                journal=bench.journal,
                clock=bench.clock,
                lineage=self.lineage,
                leases=self.leases,
            ),
            self.bounds,
        )

    @property
    def ports(self) -> QueryPorts:
        return replace(self.bench.ports, reuse=self.reuse, lineage=self.lineage)

    def submit(
        self, sql: str = SQL, access: Access = FULL_ACCESS, caller: str = "ann", **asked: Any
    ) -> QueryHandle:
        """Places a query, which wants an earlier result unless it says otherwise."""
        defaults: dict[str, Any] = {
            "catalog": "lake",
            "schema": "shop",
            "reuse": ReuseChoice.USE,
            "timeout_ms": 5000,
        }
        clock = self.bench.clock
        query = QueryHandle(
            uuid4(), QueryRequest(sql, **(defaults | asked)), caller, access, clock.now(), clock.elapsed_ms()
        )
        self.bench.book.add(query)
        self.reuse.place(query, self.reuse.find(query), self.waiting.append)
        return query

    def run(self) -> QueryHandle:
        """Runs the query that waits for longest."""
        query = self.waiting.pop(0)
        run_query(query, self.ports)
        return query

    def ran(self, sql: str = SQL, **asked: Any) -> QueryHandle:
        """Submits a query that is not answered at once, and runs it."""
        query = self.submit(sql, **asked)
        assert query in self.waiting
        while query in self.waiting:
            self.run()
        return query

    def record_of(self, query: QueryHandle) -> QueryRecord:
        """Returns the record that the query left."""
        [found] = [record for record in self.bench.journal.records if record.query_id == query.query_id]
        return found

    def is_reused(self, sql: str = SQL, **asked: Any) -> bool:
        """Whether a query is answered at once. Otherwise it runs."""
        query = self.submit(sql, **asked)
        while self.waiting:
            self.run()
        assert query.record.state.is_final
        return query.record.reused is not None

    def cancel(self, query: QueryHandle) -> None:
        """Cancels a query that waits."""
        assert query.cancel(QueryCanceled(), self.bench.clock.elapsed_ms())
        record(query, self.bench.journal)
