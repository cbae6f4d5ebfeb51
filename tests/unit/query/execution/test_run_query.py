"""One query from its start to its record."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed, ResultExpired, ResultTooLarge
from service.errors.statement_errors import ColumnNotFound, SqlSyntaxError
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown, EngineLost, EngineNotReady
from service.model.query.query import EngineRun, Parameter, QueryRequest, QueryState
from service.model.tables.tables import TableName
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.execution.run_query import run_query
from service.query.explaining.explain import explain
from service.query.registry.recorded import MAX_PLAN_CHARACTERS
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.engine import PLAN, FakeEngine, engine_result
from tests.fakes.query_records import full_record, scan
from tests.fakes.result_store import FakeResultStore
from tests.unit.query.conftest import Bench

SCAN = scan("lake.tpcds.store_returns", 2003, 366)
ITEM = TableName("lake", "tpcds", "item")


def error_code(bench: Bench) -> str:
    """Returns the error code of the only record."""
    [record] = bench.journal.records
    assert record.error is not None
    return record.error.code


def test_a_query_succeeds_and_its_record_says_what_it_read_and_how(bench: Bench) -> None:
    bench.engine.answer = engine_result(rows=5, scans=(SCAN,))
    query = bench.query("SELECT n FROM t")
    run_query(query, bench.ports)
    [record] = bench.journal.records
    assert (record.state, record.row_count, record.scans) == (QueryState.SUCCEEDED, 5, (SCAN,))
    assert (record.spark_plan, record.error, record.caller) == (PLAN, None, "ann")
    assert query.recorded.done()
    assert bench.results.chunk(query.query_id, 0).num_rows == 5


def test_the_engine_gets_what_the_caller_asked(bench: Bench) -> None:
    parameters = {"year": Parameter("2000", "INT")}
    request = QueryRequest("SELECT :year", parameters, "lake", "tpcds", row_limit=7, byte_limit=8)
    query = bench.of(request)
    run_query(query, bench.ports)
    [statement] = bench.engine.runs
    assert (statement.query_id, statement.sql, statement.parameters) == (
        query.query_id,
        "SELECT :year",
        parameters,
    )
    assert (statement.catalog, statement.schema) == ("lake", "tpcds")
    assert (statement.row_limit, statement.byte_limit) == (7, 8)
    assert not statement.is_canceled()


@pytest.mark.parametrize(
    "failure",
    [
        SqlSyntaxError("Syntax error.", 1, 8),
        ColumnNotFound("d_yaer", ["d_year"]),
        QueryFailed("Division by zero."),
        ResultTooLarge(),
        EngineNotReady(),
        CatalogDown(),
    ],
)
def test_a_failure_becomes_the_querys_state_with_all_that_it_knows(
    bench: Bench, failure: GatewayError
) -> None:
    bench.engine = FakeEngine(failure)
    query = bench.query()
    run_query(query, bench.ports)
    assert error_code(bench) == failure.code
    assert query.status(0).failure is failure
    assert len(bench.engine.runs) == 1


class EngineWithRows(FakeEngine):
    """Fails while it holds rows, with an exception that has a cause."""

    rows_ref: weakref.ref[pa.Table]

    def run(self, statement: Statement) -> EngineResult:
        rows = pa.table({"n": range(1000)})
        self.rows_ref = weakref.ref(rows)
        try:
            raise RuntimeError(statement.sql)
        except RuntimeError as cause:
            raise QueryFailed("Division by zero.") from cause


def test_a_failed_query_holds_no_rows_and_its_cause_was_logged(bench: Bench) -> None:
    engine = EngineWithRows()
    bench.engine = engine
    query = bench.query()
    with capture_logs() as logs:
        run_query(query, bench.ports)
    assert query.record.state is QueryState.FAILED
    assert engine.rows_ref() is None
    [line] = logs
    assert (line["log_level"], line["code"], line["exc_info"]) == ("debug", "QUERY_FAILED", True)


def test_the_record_of_a_failure_has_what_the_engine_says_of_its_run(bench: Bench) -> None:
    failure = QueryFailed("Division by zero.")
    failure.run = EngineRun(0, 9, (SCAN,), "x" * (MAX_PLAN_CHARACTERS + 1))
    bench.engine = FakeEngine(failure)
    run_query(bench.query(), bench.ports)
    [record] = bench.journal.records
    assert (record.state, record.scans) == (QueryState.FAILED, (SCAN,))
    assert record.spark_plan == "x" * MAX_PLAN_CHARACTERS


def test_a_result_that_cannot_be_stored_was_planned_and_read_all_the_same(bench: Bench) -> None:
    bench.results = FakeResultStore(bench.clock, total_bytes=1)
    bench.engine.answer = engine_result(scans=(SCAN,))
    run_query(bench.query(), bench.ports)
    [record] = bench.journal.records
    assert (record.scans, record.spark_plan) == ((SCAN,), PLAN)


@pytest.mark.parametrize("outcome", [engine_result(), QueryFailed()])
def test_what_comes_back_after_it_was_given_up_is_discarded_and_not_recorded_again(
    bench: Bench, outcome: EngineResult | Exception
) -> None:
    query = bench.query()

    class Engine(FakeEngine):
        def _may_go_on(self, _: object) -> bool:
            query.cancel(QueryCanceled(), 0)
            return query.give_up(0, 0)

    bench.engine = Engine(outcome)
    run_query(query, bench.ports)
    assert query.record.state is QueryState.CANCELED
    assert bench.journal.records == []
    with pytest.raises(ResultExpired):
        bench.results.chunk(query.query_id, 0)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("", "SQL_EMPTY"),
        ("SELECT 1; SELECT 2", "SQL_MANY_STATEMENTS"),
        (f"SELECT '{'x' * 1000}'", "SQL_TOO_LARGE"),
        ("SELECT ?", "PARAMETER_MISSING"),
    ],
)
def test_what_is_no_single_whole_statement_never_reaches_the_engine(
    bench: Bench, sql: str, code: str
) -> None:
    run_query(bench.query(sql), bench.ports)
    assert error_code(bench) == code
    assert bench.engine.runs == []


def test_a_result_that_cannot_be_stored_fails_the_query(bench: Bench) -> None:
    bench.results = FakeResultStore(bench.clock, total_bytes=1)
    query = bench.query()
    run_query(query, bench.ports)
    assert error_code(bench) == "RESULT_TOO_LARGE"
    assert query.record.state is QueryState.FAILED


def test_an_engine_lost_once_runs_the_query_once_more(bench: Bench) -> None:
    bench.engine = FakeEngine(EngineLost())
    run_query(bench.query(), bench.ports)
    assert [record.state for record in bench.journal.records] == [QueryState.SUCCEEDED]
    assert len(bench.engine.runs) == 2


def test_an_engine_lost_twice_is_reported(bench: Bench) -> None:
    bench.engine = FakeEngine(EngineLost(), EngineLost())
    run_query(bench.query(), bench.ports)
    assert error_code(bench) == "ENGINE_LOST"
    assert len(bench.engine.runs) == 2


def test_without_retries_an_engine_lost_once_is_reported(bench: Bench) -> None:
    bench.engine, bench.engine_retries = FakeEngine(EngineLost()), 0
    run_query(bench.query(), bench.ports)
    assert error_code(bench) == "ENGINE_LOST"
    assert len(bench.engine.runs) == 1


def test_a_canceled_query_is_not_run_again_when_the_engine_is_lost(bench: Bench) -> None:
    query = bench.query()

    class Engine(FakeEngine):
        def _may_go_on(self, _: object) -> bool:
            query.cancel(QueryCanceled(), 0)
            return True

    bench.engine = Engine(EngineLost())
    run_query(query, bench.ports)
    assert error_code(bench) == "QUERY_CANCELED"
    assert query.record.state is QueryState.CANCELED
    assert len(bench.engine.runs) == 1


def test_what_was_canceled_before_a_worker_came_is_neither_run_nor_recorded_again(bench: Bench) -> None:
    query = bench.query()
    query.cancel(QueryCanceled(), 0)
    run_query(query, bench.ports)
    assert bench.engine.runs == []
    assert bench.journal.records == []


@pytest.mark.parametrize(
    ("asked", "catalog", "schema"),
    [
        ("itme", "lake", "tpcds"),
        ("tpcds.itme", "lake", None),
        ("tpcds.itme", "lake", "other"),
        ("lake.tpcds.itme", None, None),
        ("lake.tpcds.itme", "other", "other"),
    ],
)
def test_an_unknown_table_gets_its_nearest_names(
    bench: Bench, asked: str, catalog: str | None, schema: str | None
) -> None:
    bench.catalogs.put(facts_of_empty_table(ITEM))
    bench.engine = FakeEngine(TableNotFound(asked))
    query = bench.of(QueryRequest(f"SELECT * FROM {asked}", catalog=catalog, schema=schema))
    run_query(query, bench.ports)
    failure = query.status(0).failure
    assert isinstance(failure, TableNotFound)
    assert (failure.table, failure.nearest) == (asked, ("lake.tpcds.item",))
    assert query.record.error is not None
    assert query.record.error.detail == f"There is no table {asked}. Did you mean lake.tpcds.item?"


@pytest.mark.parametrize(
    ("asked", "full_name"),
    [
        ("item", "lake.sales.eu.item"),
        ("eu.item", "lake.eu.item"),
        ("sales.eu.item", "sales.eu.item"),
        ("lake.sales.eu.item", "lake.sales.eu.item"),
    ],
)
def test_a_schema_of_several_levels_is_used_whole(bench: Bench, asked: str, full_name: str) -> None:
    class Catalogs(FakeCatalogs):
        def nearest(self, dotted: str) -> Sequence[str]:
            return [dotted]

    bench.catalogs = Catalogs()
    bench.engine = FakeEngine(TableNotFound(asked))
    query = bench.of(QueryRequest("SELECT 1", catalog="lake", schema="sales.eu"))
    run_query(query, bench.ports)
    failure = query.status(0).failure
    assert isinstance(failure, TableNotFound)
    assert failure.nearest == (full_name,)


def test_a_catalog_that_is_down_costs_the_nearest_names_only(bench: Bench) -> None:
    bench.catalogs.put(facts_of_empty_table(ITEM))
    bench.catalogs.down.add("lake")
    bench.engine = FakeEngine(TableNotFound("lake.tpcds.itme"))
    run_query(bench.query(), bench.ports)
    assert error_code(bench) == "TABLE_NOT_FOUND"


def test_nearest_names_that_are_known_already_stay(bench: Bench) -> None:
    failure = TableNotFound("itme", ["mine"])
    bench.engine = FakeEngine(failure)
    query = bench.query()
    run_query(query, bench.ports)
    assert query.status(0).failure is failure


def test_a_plan_of_any_length_is_stored_within_a_bound(bench: Bench) -> None:
    bench.engine.answer = engine_result(plan_text=lambda: "x" * (MAX_PLAN_CHARACTERS + 1))
    run_query(bench.query(), bench.ports)
    assert len(bench.journal.records[0].spark_plan) == MAX_PLAN_CHARACTERS


def test_a_plan_that_cannot_be_had_leaves_the_answer_as_it_is(bench: Bench) -> None:
    def lost() -> str:
        raise EngineLost

    bench.engine.answer = engine_result(plan_text=lost)
    query = bench.query()
    run_query(query, bench.ports)
    assert query.record.state is QueryState.SUCCEEDED
    assert [record.error for record in bench.journal.records] == [None]


def test_an_explanation_holds_all_that_the_record_knows() -> None:
    record = full_record()
    explanation = explain(record)
    for name in ("query_id", "sql", "state", "error", "scans", "spark_plan"):
        assert getattr(explanation, name) == getattr(record, name)
    times = (explanation.queued_ms, explanation.planning_ms, explanation.running_ms)
    assert times == (record.queued_ms, record.planning_ms, record.running_ms)
