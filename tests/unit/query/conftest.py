"""One query and its ports, run step by step without threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRequest
from service.ports.engine.query_engine import Engine, EngineResult
from service.query.execution.run_pruned import run_pruned
from service.query.execution.run_query import QueryPorts
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from service.query.registry.readable_results import ReadableResults
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.journal import FakeJournal
from tests.fakes.pruner import pruner
from tests.fakes.result_store import FakeResultStore


@dataclass
class Bench:
    """The fakes by name, and the objects that are built of them."""

    clock: FakeClock = field(default_factory=FakeClock)
    engine: FakeEngine = field(default_factory=FakeEngine)
    catalogs: FakeCatalogs = field(default_factory=FakeCatalogs)
    journal: FakeJournal = field(default_factory=FakeJournal)
    book: QueryRegistry = field(default_factory=lambda: QueryRegistry(retention_ms=60_000))
    engine_retries: int = 1

    def __post_init__(self) -> None:
        self.results = FakeResultStore(self.clock)

    @property
    def ports(self) -> QueryPorts:
        return QueryPorts(
            engine=self.engine,
            catalogs=self.catalogs,
            results=self.results,
            readable=ReadableResults(self.results),
            journal=self.journal,
            clock=self.clock,
            pruner=pruner(self.catalogs, self.engine, FakeFilterCache(), self.clock),
            max_sql_bytes=1000,
            engine_retries=self.engine_retries,
        )

    def query(
        self,
        sql: str = "SELECT 1",
        caller: str = "ann",
        request_id: UUID | None = None,
        timeout_ms: int = 5000,
    ) -> QueryHandle:
        return self.of(QueryRequest(sql, request_id=request_id, timeout_ms=timeout_ms), caller)

    def of(self, request: QueryRequest, caller: str = "ann") -> QueryHandle:
        """Adds a query for this request to the book, and returns it."""
        return self.book.add(self._handle(request, caller))

    def unregistered(self, sql: str = "SELECT 1", request_id: UUID | None = None) -> QueryHandle:
        """A query that is not in the book."""
        return self._handle(QueryRequest(sql, request_id=request_id, timeout_ms=5000), "ann")

    def _handle(self, request: QueryRequest, caller: str) -> QueryHandle:
        return QueryHandle(uuid4(), request, caller, FULL_ACCESS, self.clock.now(), self.clock.elapsed_ms())

    def run_pruned(self, query: QueryHandle, engine: Engine | None = None) -> EngineResult:
        """The rows by what the query was pruned to; its record has what came of it."""
        pruner = self.ports.pruner
        query.note(outcome := run_pruned(query, query.pruned, pruner, engine or self.engine, retries=0))
        return outcome.rows()


@pytest.fixture
def bench() -> Bench:
    return Bench()
