"""A statement that writes runs once, and its query says what the table says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from service.adapters.sql_writes.outcome_rows import outcome_rows
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed
from service.errors.statement_errors import SqlWritesOff
from service.errors.unavailable import EngineLost
from service.maintenance.called_maintenance import CalledMaintenance
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRequest, QueryState
from service.model.tables.tables import TableName
from service.model.writes.procedure_calls import ArgumentKind, ProcedureArgument, ProcedureCall
from service.model.writes.writes import Write, WriteKind, WriteState
from service.ports.engine.query_engine import EngineResult, Statement
from service.ports.stores.write_log import MarkedCommit
from service.ports.tables.maintenance_calls import MaintenanceCalls
from service.query.execution.run_query import QueryPorts, run_query
from service.query.registry.query_handle import QueryHandle
from service.sql_writes.sql_writes import SqlWriteBounds, SqlWrites
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.engine import FakeEngine
from tests.fakes.maintenance import FakeMaintenances
from tests.fakes.write_log import FakeCommitMarks, FakeWriteLog
from tests.unit.query.conftest import Bench

SQL = "INSERT INTO orders SELECT 1"
INSERT = Write(WriteKind.INSERT, TableName("lake", "shop", "orders"))


class WritingEngine(FakeEngine):
    """Writes if it may; `failure` comes after that."""

    def __init__(self, marks: FakeCommitMarks, failure: GatewayError | None = None) -> None:
        super().__init__()
        self.marks = marks
        self.failure = failure
        self.is_committing = True
        self.write = INSERT
        self.writes = 0

    def run(self, statement: Statement) -> EngineResult:
        if statement.begin_write is None:
            raise SqlWritesOff
        if statement.admit is not None:
            statement.admit(self.work)
        statement.begin_write(self.write)
        self.writes += 1
        if self.is_committing:
            self.marks.commits[statement.query_id] = MarkedCommit(7, {"added-records": "3"})
        if self.failure is not None:
            raise self.failure
        return self.answer


class Writing:
    def __init__(
        self, bench: Bench, failure: GatewayError | None = None, calls: MaintenanceCalls | None = None
    ) -> None:
        self.bench, self.log, self.marks = bench, FakeWriteLog(), FakeCommitMarks()
        self.engine = WritingEngine(self.marks, failure)
        bench.engine = self.engine
        bounds = SqlWriteBounds(settle_s=0.0)
        self.writes = SqlWrites(self.log, self.marks, bench.ports.clock, outcome_rows, bounds, calls)

    @property
    def ports(self) -> QueryPorts:
        return replace(self.bench.ports, writes=self.writes)

    def run(self, request_id: UUID | None = None, sql: str = SQL) -> QueryHandle:
        clock = self.bench.clock
        request = QueryRequest(sql, request_id=request_id)
        # Not in the book: as at another replica.
        query = QueryHandle(uuid4(), request, "ann", FULL_ACCESS, clock.now(), clock.elapsed_ms())
        run_query(query, self.ports)
        return query


def test_a_write_is_recorded_run_and_told(bench: Bench) -> None:
    writing = Writing(bench)
    query = writing.run()
    record = query.record
    assert record.write is not None
    assert (record.state, record.write.state) == (QueryState.SUCCEEDED, WriteState.COMMITTED)
    rows = bench.results.chunk(query.query_id, 0).to_pylist()
    assert rows == [{"rows_affected": 3, "snapshot_id": 7}]
    assert writing.log.find(query.query_id) == record.write


def test_without_the_setting_nothing_is_written(bench: Bench) -> None:
    writing = Writing(bench)
    query = bench.of(QueryRequest(SQL))
    run_query(query, bench.ports)
    assert query.record.error is not None
    assert (query.record.error.code, writing.engine.writes) == ("SQL_WRITES_OFF", 0)


@pytest.mark.parametrize("failure", [EngineLost(), QueryFailed("late")], ids=["lost", "failed"])
def test_a_commit_before_a_failure_is_a_success(bench: Bench, failure: GatewayError) -> None:
    writing = Writing(bench, failure)
    query = writing.run()
    assert query.record.state is QueryState.SUCCEEDED
    assert writing.engine.writes == 1


def test_a_lost_engine_is_not_asked_again(bench: Bench) -> None:
    writing = Writing(bench, EngineLost())
    writing.engine.is_committing = False
    query = writing.run()
    assert query.record.error is not None
    assert query.record.error.code == "WRITE_OUTCOME_UNKNOWN"
    assert writing.engine.writes == 1


def test_the_same_request_gives_the_first_outcome(bench: Bench) -> None:
    writing, request_id = Writing(bench), uuid4()
    first = writing.run(request_id)
    again = writing.run(request_id)
    assert writing.engine.writes == 1
    assert again.record.write == first.record.write
    assert again.record.state is QueryState.SUCCEEDED
    other = writing.run(request_id, "INSERT INTO orders SELECT 2")
    assert other.record.error is not None
    assert other.record.error.code == "REQUEST_ID_REUSED"


def test_a_repeat_of_what_is_not_known_waits(bench: Bench) -> None:
    writing, request_id = Writing(bench, EngineLost()), uuid4()
    writing.engine.is_committing = False
    first = writing.run(request_id)
    assert (error := writing.run(request_id).record.error) is not None
    assert error.code == "WRITE_RUNNING"
    writing.marks.commits[first.query_id] = MarkedCommit(7, {"added-records": "3"})
    assert writing.run(request_id).record.state is QueryState.SUCCEEDED
    assert writing.engine.writes == 1


def test_a_repeat_at_the_same_gateway_finds_out_how_the_write_ended(bench: Bench) -> None:
    writing, request = Writing(bench, EngineLost()), QueryRequest(SQL, request_id=uuid4())
    writing.engine.is_committing = False

    def send() -> QueryHandle:
        query = bench.of(request)
        if query.ended_ms is None:
            run_query(query, writing.ports)
        return query

    first, repeat = send(), send()
    assert [query.record.error and query.record.error.code for query in (first, repeat)] == [
        "WRITE_OUTCOME_UNKNOWN",
        "WRITE_RUNNING",
    ]
    # Neither is what later repeats belong to, here or at a replica that reads the record.
    assert first.record.request_id is repeat.record.request_id is None
    writing.marks.commits[first.query_id] = MarkedCommit(7, {"added-records": "3"})
    known = send()
    assert known.record.state is QueryState.SUCCEEDED
    assert send() is known
    assert writing.engine.writes == 1


def test_nothing_is_written_while_it_cannot_be_recorded(bench: Bench) -> None:
    writing = Writing(bench)
    writing.log.is_down = True
    query = writing.run()
    assert query.record.error is not None
    assert (query.record.error.code, writing.engine.writes) == ("METRICS_STORE_DOWN", 0)


def test_a_definition_that_is_never_known_is_told_so(bench: Bench) -> None:
    writing, request_id = Writing(bench, EngineLost()), uuid4()
    writing.engine.write = Write(WriteKind.ALTER_TABLE, INSERT.table)
    sql = "ALTER TABLE orders ADD COLUMN x INT"
    assert (first := writing.run(request_id, sql).record.write) is not None
    assert first.state is WriteState.UNKNOWN
    assert (error := writing.run(request_id, sql).record.error) is not None
    assert error.code == "WRITE_RUNNING"
    bench.clock.advance(timedelta(hours=2))
    assert (error := writing.run(request_id, sql).record.error) is not None
    assert error.code == "WRITE_OUTCOME_UNKNOWN"
    assert writing.engine.writes == 1


def test_a_write_whose_snapshots_have_expired_is_told_so(bench: Bench) -> None:
    writing, request_id = Writing(bench, EngineLost()), uuid4()
    writing.engine.is_committing = False
    writing.marks.is_complete = False
    writing.run(request_id)
    assert (error := writing.run(request_id).record.error) is not None
    assert error.code == "WRITE_RUNNING"
    bench.clock.advance(timedelta(hours=2))
    assert (error := writing.run(request_id).record.error) is not None
    assert error.code == "WRITE_OUTCOME_UNKNOWN"
    assert writing.engine.writes == 1


def test_an_explained_write_does_not_write(bench: Bench) -> None:
    writing = Writing(bench)
    query = writing.run(sql="EXPLAIN INSERT INTO orders SELECT 1")
    assert query.record.error is not None
    assert (query.record.error.code, writing.engine.writes) == ("STATEMENT_NOT_ALLOWED", 0)


def test_a_canceled_write_that_was_committed_is_a_success(bench: Bench) -> None:
    writing = Writing(bench, QueryCanceled())
    query = writing.run()
    assert query.record.write is not None
    assert (query.record.state, query.record.write.state) == (QueryState.SUCCEEDED, WriteState.COMMITTED)


def test_a_call_is_a_maintenance_and_a_repeat_is_the_same_one(bench: Bench) -> None:
    maintained = FakeMaintenances(FakeCatalogs(tables=[facts_of_empty_table(INSERT.table)]), bench.clock)
    writing = Writing(bench, calls=CalledMaintenance(maintained))
    table = ProcedureArgument("table", ArgumentKind.TEXT, "shop.orders")
    call = ProcedureCall(("lake", "system", "expire_snapshots"), (table,))
    writing.engine.write, writing.engine.is_committing = Write(WriteKind.CALL, INSERT.table, call=call), False
    request_id = uuid4()
    for _ in range(2):
        query = writing.run(request_id, "CALL lake.system.expire_snapshots(table => 'shop.orders')")
        assert query.record.state is QueryState.SUCCEEDED, query.record.error
        (row,) = bench.results.chunk(query.query_id, 0).to_pylist()
        assert row["maintenance_id"] == str(next(iter(maintained.log.records)))
    assert (writing.engine.writes, len(maintained.log.records)) == (1, 1)
    # The table has an open maintenance.
    refused = writing.run(uuid4(), "CALL lake.system.expire_snapshots(table => 'shop.orders')").record
    assert refused.error is not None
    assert refused.write is not None
    assert (refused.error.code, refused.write.state) == ("MAINTENANCE_RUNNING", WriteState.NOT_COMMITTED)
