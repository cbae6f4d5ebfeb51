"""A query from its text to its record with a real pruner, including late keys and wrong keys."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from service.errors.query_errors import QueryFailed
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.query import PruningRequest, QueryRequest, QueryState
from service.model.query.rewrites import RewriteKind
from service.model.query.verification import Verification
from service.model.tables.tables import TableAt, TableName
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.execution.run_query import run_query
from service.query.registry.query_handle import QueryHandle
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.engine import FakeEngine, engine_result
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.filters import keys_of
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.late_executor import LateExecutor
from tests.fakes.pruner import pruner
from tests.unit.pruning.tables import TABLES
from tests.unit.query.conftest import Bench

SQL = (
    "SELECT f.note FROM lake.shop.sales AS f JOIN lake.shop.calendar AS d ON f.day_key = d.day_key"
    " WHERE d.year = 2000"
)
KEYS = (
    "SELECT DISTINCT `t0`.`day_key` AS `k0` FROM `lake`.`shop`.`calendar` VERSION AS OF 3 AS `t0`"
    " WHERE `t0`.`year` = 2000 AND NOT `t0`.`day_key` IS NULL"
)
ROWS = (
    "SELECT `t0`.`day_key`, `t0`.`day`, `t0`.`year` FROM `lake`.`shop`.`calendar` VERSION AS OF 3 AS `t0`"
    " WHERE (`t0`.`year` = 2000)"
)
NOBODY: Container[int] = ()
TOGETHER = frozenset({RewriteKind.LOCAL_RELATION, RewriteKind.ONE_READING})


@dataclass
class PrunedRun:
    """One process's pruner and its ports; the reader collects its keys."""

    late: Container[int] = NOBODY
    cache: FakeFilterCache = field(default_factory=FakeFilterCache)
    engine: FakeEngine = field(default_factory=FakeEngine)
    # Filters only: local relations would also change the text, once they are in memory.
    rewrites: frozenset[RewriteKind] = frozenset()
    takes_late: bool = False

    def __post_init__(self) -> None:
        self.reader = FakeKeyCollector()
        self.reader.put(KEYS, ((3,), (9,)))
        self.executor = LateExecutor(self.late)
        self.bench = Bench(engine=self.engine)
        self.catalogs = FakeCatalogs(
            tables=(table for at, table in TABLES.items() if at.version.kind == "NOW")
        )
        self.pruner = pruner(
            self.catalogs,
            self.engine,
            self.cache,
            self.bench.clock,
            is_enabled=True,
            executor=self.executor,
            reader=self.reader,
            # Keys that are not ready at once are late.
            collect_timeout_s=0,
            rewrites=self.rewrites,
            takes_late=self.takes_late,
        )

    def ran(self, is_verified: bool = False, sql: str = SQL) -> QueryHandle:
        """Runs the query, and returns it."""
        pruning = PruningRequest(is_verified=is_verified)
        query = self.bench.of(QueryRequest(sql, catalog="lake", schema="shop", pruning=pruning))
        run_query(query, replace(self.bench.ports, pruner=self.pruner))
        return query

    def reasons(self, query: QueryHandle) -> list[Reason]:
        return [filter_.reason for filter_ in query.record.filters if filter_.is_candidate]

    def sources(self, query: QueryHandle) -> list[FilterSource]:
        return [filter_.source for filter_ in query.record.filters if filter_.is_candidate]


def test_keys_are_collected_and_then_cached() -> None:
    pruned_run = PrunedRun()
    first, second = pruned_run.ran(), pruned_run.ran()
    assert pruned_run.sources(first) == [FilterSource.COLLECTED]
    assert pruned_run.sources(second) == [FilterSource.CACHED]
    assert [run.sql.count("IN (3, 9, NULL)") for run in pruned_run.engine.runs] == [1, 1]


def test_rows_that_come_with_the_keys_are_read_by_the_query_that_has_them_collected() -> None:
    pruned_run = PrunedRun(rewrites=TOGETHER)
    pruned_run.reader.put_rows(ROWS, pa.table({"day_key": [3, 9, 9]}))
    first, second = pruned_run.ran().record, pruned_run.ran().record
    assert [rewrite.kind for rewrite in first.rewrites] == [
        RewriteKind.LOCAL_RELATION,
        RewriteKind.ONE_READING,
    ]
    [rows, together] = first.rewrites
    assert (rows.table_reference, together.table_reference, together.filter_id) == (2, 2, "df1")
    assert [rewrite.kind for rewrite in second.rewrites] == [RewriteKind.LOCAL_RELATION]
    assert pruned_run.reader.collected == [KEYS]
    assert [len(run.relations) for run in pruned_run.engine.runs] == [1, 1]


def test_keys_that_only_the_engine_collects_come_from_the_rows_that_it_reads_for_the_join() -> None:
    pruned_run = PrunedRun(rewrites=TOGETHER)
    pruned_run.reader.forget(KEYS)
    query = pruned_run.ran()
    of_keys, of_query = pruned_run.engine.runs
    assert of_keys.sql == (
        "SELECT `t0`.`day_key` AS `k0` FROM `sluice_rows_of_keys` AS `t0`"
        " WHERE `t0`.`year` = 2000 AND NOT `t0`.`day_key` IS NULL"
    )
    assert list(of_keys.relations.values()) == list(of_query.relations.values())
    assert [rewrite.kind for rewrite in query.record.rewrites] == [
        RewriteKind.LOCAL_RELATION,
        RewriteKind.ONE_READING,
    ]


def test_keys_that_cannot_be_had_from_rows_are_collected_from_the_files() -> None:
    pruned_run = PrunedRun(rewrites=TOGETHER, engine=FakeEngine(QueryFailed("They made room for others.")))
    pruned_run.reader.forget(KEYS)
    query = pruned_run.ran()
    assert pruned_run.reasons(query) == [Reason.APPLIED]
    assert [run.sql for run in pruned_run.engine.runs[1:2]] == [KEYS]


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(
            "WITH calendar AS (SELECT * FROM calendar WHERE year = 2000)"
            " SELECT f.note FROM sales AS f JOIN calendar AS d ON f.day_key = d.day_key"
            " WHERE f.item_key < (SELECT max(c.day_key) FROM shop.calendar AS c)",
            id="behind a common table expression of its own name",
        ),
        pytest.param(
            f"{SQL} AND f.item_key < (SELECT max(c.day_key) FROM calendar TABLESAMPLE (10 PERCENT) AS c)",
            id="as a sample",
        ),
    ],
)
def test_a_table_that_is_read_unpinned_in_another_place_gives_no_keys(sql: str) -> None:
    pruned_run = PrunedRun()
    query = pruned_run.ran(sql=sql)
    assert Reason.APPLIED not in pruned_run.reasons(query)
    assert [run.sql for run in pruned_run.engine.runs] == [sql]


def test_a_query_does_not_wait_for_keys_that_are_late_and_the_next_one_finds_them() -> None:
    pruned_run = PrunedRun(late=(0,))
    query = pruned_run.ran()
    assert (query.record.state, pruned_run.reasons(query)) == (
        QueryState.SUCCEEDED,
        [Reason.COLLECT_TIMED_OUT],
    )
    assert [run.sql for run in pruned_run.engine.runs] == [SQL]
    assert pruned_run.cache.entries(10) == []

    pruned_run.executor.catch_up()
    [entry] = pruned_run.cache.entries(10)
    query = pruned_run.ran()
    assert (entry.value_count, pruned_run.reasons(query)) == (2, [Reason.APPLIED])
    assert pruned_run.sources(query) == [FilterSource.CACHED]
    assert pruned_run.reader.collected == [KEYS]
    assert "IN (3, 9, NULL)" in pruned_run.engine.runs[-1].sql


@pytest.fixture
def poisoned() -> PrunedRun:
    """The cache has wrong keys under the right address; with them, one of three rows is lost."""
    pruned_run = PrunedRun()
    pruned_run.ran()
    [(fingerprint, (shown, _))] = pruned_run.cache.stored.items()
    pruned_run.cache.stored[fingerprint] = (shown, keys_of((3,)))
    pruned_run.engine.outcomes.extend(engine_result(number) for number in (2, 3, 3))
    return pruned_run


def test_a_difference_is_an_error_a_line_in_the_log_and_part_of_the_record(poisoned: PrunedRun) -> None:
    with capture_logs() as logs:
        query = poisoned.ran(is_verified=True)
    record = query.record
    assert (record.state, record.verification) == (QueryState.FAILED, Verification.DIFFERENT)
    assert record.error is not None
    assert record.error.code == "VERIFICATION_FAILED"
    [line] = [log for log in logs if log["log_level"] == "error"]
    assert (line["event"], line["sql"]) == ("verification_failed", SQL)


def test_keys_that_were_found_wrong_are_used_no_more(poisoned: PrunedRun) -> None:
    poisoned.ran(is_verified=True)
    assert poisoned.cache.stored == {}
    query = poisoned.ran()
    assert (query.record.state, poisoned.reasons(query)) == (QueryState.SUCCEEDED, [Reason.DISABLED])
    assert poisoned.engine.runs[-1].sql == SQL
    assert poisoned.cache.stored == {}


def test_other_processes_collect_again_what_was_found_wrong(poisoned: PrunedRun) -> None:
    poisoned.ran(is_verified=True)
    another = PrunedRun(cache=poisoned.cache)
    [found] = [filter_ for filter_ in another.ran().record.filters if filter_.is_candidate]
    assert (found.reason, found.source, found.value_count) == (Reason.APPLIED, FilterSource.COLLECTED, 2)


def test_keys_that_were_found_wrong_are_used_no_more_though_the_cache_is_down(poisoned: PrunedRun) -> None:
    poisoned.cache.is_down = True
    query = poisoned.ran(is_verified=True)
    assert query.record.error is not None
    assert query.record.error.code == "VERIFICATION_FAILED"
    assert poisoned.reasons(poisoned.ran()) == [Reason.DISABLED]


WITH_MAKERS = SQL.replace(" WHERE", " CROSS JOIN lake.shop.maker WHERE")
# An empty table has no snapshot to pin.
WITH_NOTHING = SQL.replace(" WHERE", " CROSS JOIN lake.shop.nothing WHERE")
NOTHING = TABLES[TableAt(TableName("lake", "shop", "nothing"))]


class WrittenTo(FakeEngine):
    """Another writer commits to a table when the first run has its rows."""

    def __init__(self, *outcomes: EngineResult) -> None:
        super().__init__(*outcomes)
        self.commits: list[Callable[[], None]] = []

    def run(self, statement: Statement) -> EngineResult:
        result = super().run(statement)
        while self.commits:
            self.commits.pop()()
        return result


def test_two_runs_that_are_compared_read_all_tables_at_the_same_snapshots() -> None:
    pruned_run = PrunedRun()
    query = pruned_run.ran(is_verified=True, sql=WITH_MAKERS)
    assert query.record.verification is Verification.SAME
    filtered, plain = (run.sql for run in pruned_run.engine.runs)
    assert plain == (
        "SELECT f.note FROM lake.shop.sales VERSION AS OF 1 AS f JOIN lake.shop.calendar VERSION AS OF 3 AS d"
        " ON f.day_key = d.day_key CROSS JOIN lake.shop.maker VERSION AS OF 5 WHERE d.year = 2000"
    )
    assert "lake.shop.maker VERSION AS OF 5 WHERE d.year" in filtered


def test_a_table_without_a_part_in_filters_is_read_as_it_was_with_them() -> None:
    pruned_run = PrunedRun()
    pruned_run.ran(sql=WITH_MAKERS)
    [run] = pruned_run.engine.runs
    assert "lake.shop.calendar VERSION AS OF 3" in run.sql
    assert "lake.shop.maker VERSION AS OF 5 WHERE" in run.sql


@pytest.mark.parametrize("is_written_to", [True, False])
def test_what_a_closed_view_may_read_must_be_as_it_is_pinned(is_written_to: bool) -> None:
    sql = f"{SQL} AND f.item_key IN (SELECT v.item_key FROM lake.shop.some_view AS v)"
    engine = WrittenTo(engine_result(2), engine_result(3))
    pruned_run = PrunedRun(engine=engine)
    if is_written_to:
        engine.commits.append(lambda: pruned_run.catalogs.append(TableName("lake", "shop", "calendar"), 9))
    query = pruned_run.ran(sql=sql)
    assert (engine.runs[-1].sql == sql) is is_written_to
    # The second filter is that of the view, which gives no keys.
    assert pruned_run.reasons(query)[0] is (Reason.SNAPSHOT_MOVED if is_written_to else Reason.APPLIED)


@pytest.mark.parametrize(
    ("is_written_to", "expected"), [(True, Verification.NOT_COMPARABLE), (False, Verification.DIFFERENT)]
)
def test_rows_of_a_table_that_cannot_be_pinned_prove_nothing_once_it_is_written_to(
    is_written_to: bool, expected: Verification
) -> None:
    engine = WrittenTo(*(engine_result(count) for count in (2, 3, 3)))
    pruned_run = PrunedRun(engine=engine)
    if is_written_to:
        engine.commits.append(lambda: pruned_run.catalogs.append(NOTHING.name, 7))
    assert pruned_run.ran(is_verified=True, sql=WITH_NOTHING).record.verification is expected
    assert len(engine.runs) == 3
