"""Filters that come while a query runs leave out files of scans that have not begun."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace

import pytest

from service.model.tables.tables import TableName
from service.ports.engine.late_filters import LateFilter, LateUse
from service.ports.engine.query_engine import EngineResult
from spark_session.engine.engine import SparkEngine
from tests.integration.engine.test_engine import prepare, run, statement
from tests.polling import until

pytestmark = pytest.mark.integration

SALES = TableName("lake", "late", "sales")
DAYS = 8
# The side that is broadcast first takes long enough for keys to come.
SLOW = "(SELECT id % 40 AS k FROM range(0, 40000000) GROUP BY 1 HAVING min(id) IN (1, 2))"
JOIN = f"SELECT /*+ BROADCAST(d) */ day, count(*) AS n FROM {SALES} JOIN {SLOW} d ON day = d.k GROUP BY 1"
SMALL = f"SELECT /*+ BROADCAST(d) */ sum(s.id) FROM {SALES} s JOIN late.days d ON s.day = d.k WHERE d.v >= 0"


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    prepare(
        shared_engine,
        "CREATE NAMESPACE IF NOT EXISTS lake.late",
        # Spark prunes by partitions alone. Each of these has the rows of one day.
        f"CREATE TABLE {SALES} (id BIGINT, part INT, day INT) USING iceberg PARTITIONED BY (part)",
        f"INSERT INTO {SALES} SELECT id, id % {DAYS}, id % {DAYS} FROM range(1000)",
        "CREATE TABLE lake.late.days USING iceberg AS SELECT INT(id) AS k, id AS v FROM range(2)",
    )
    return shared_engine


@pytest.fixture(scope="module")
def snapshot_id(engine: SparkEngine) -> int:
    assert engine.session is not None
    [row] = engine.session.root.sql(f"SELECT snapshot_id FROM {SALES}.snapshots").collect()
    return int(row[0])


def ran(
    engine: SparkEngine, sql: str, *late: LateFilter, comes: tuple[Future[str | None], str] | None = None
) -> EngineResult:
    """Runs the statement; the condition that `comes` is there when its first job runs."""
    asked = replace(statement(sql), late_filters=late)
    assert engine.session is not None
    tracker = engine.session.context._jsc.sc().statusTracker()

    def come() -> None:
        assert comes is not None
        until(lambda: len(tracker.getJobIdsForTag(str(asked.query_id))) > 0)
        comes[0].set_result(comes[1])

    coming = threading.Thread(target=come)
    if comes is not None:
        coming.start()
    try:
        return engine.run(asked)
    finally:
        if comes is not None:
            coming.join()


def late_filter(snapshot_id: int, condition: str | None = None, filter_id: str = "df1") -> LateFilter:
    """Returns a filter whose condition is there, or is still to come."""
    comes: Future[str | None] = Future()
    if condition is not None:
        comes.set_result(condition)
    return LateFilter(filter_id, SALES, snapshot_id, comes)


def rows(result: EngineResult) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in result.rows.to_pylist())


def files(result: EngineResult) -> tuple[int, int]:
    [scan] = [scan for scan in result.scans if scan.table == str(SALES)]
    return scan.metrics.data_files.selected, scan.metrics.data_files.total


@pytest.fixture(scope="module")
def plain(engine: SparkEngine) -> EngineResult:
    found = run(engine, JOIN)
    assert files(found) == (DAYS, DAYS)
    assert not found.late_uses
    return found


def test_a_filter_that_comes_while_another_side_is_read_leaves_out_files(
    engine: SparkEngine, snapshot_id: int, plain: EngineResult
) -> None:
    late = late_filter(snapshot_id)
    found = ran(engine, JOIN, late, comes=(late.condition, "day IN (1, 2)"))
    assert found.late_uses == {"df1": LateUse.USED}
    assert files(found) == (2, DAYS)
    assert rows(found) == rows(plain)


def test_filters_that_came_before_the_run_leave_out_files_together(
    engine: SparkEngine, snapshot_id: int
) -> None:
    one, other = late_filter(snapshot_id, "day IN (0, 1)"), late_filter(snapshot_id, "day >= 1", "df2")
    found, plain = ran(engine, SMALL, one), run(engine, SMALL)
    assert (found.late_uses, files(found)) == ({"df1": LateUse.USED}, (2, DAYS))
    assert (rows(found), files(plain)) == (rows(plain), (DAYS, DAYS))
    found, plain = ran(engine, f"{SMALL} AND d.v > 0", one, other), run(engine, f"{SMALL} AND d.v > 0")
    assert found.late_uses == {"df1": LateUse.USED, "df2": LateUse.USED}
    assert (rows(found), files(found), files(plain)) == (rows(plain), (1, DAYS), (DAYS, DAYS))


def test_a_scan_that_keeps_no_file_still_has_a_partition(engine: SparkEngine, snapshot_id: int) -> None:
    sql = f"SELECT /*+ BROADCAST(d) */ count(*) FROM {SALES} s JOIN late.days d ON s.id = d.v - 9"
    found = ran(engine, sql, late_filter(snapshot_id, "id < 0"))
    assert (found.late_uses, files(found)) == ({"df1": LateUse.USED}, (1, DAYS))
    assert rows(found) == [(0,)]


def test_a_filter_that_comes_after_the_scan_has_begun_is_too_late(
    engine: SparkEngine, snapshot_id: int, plain: EngineResult
) -> None:
    late = late_filter(snapshot_id)
    sql = JOIN.replace("BROADCAST(d)", "MERGE(d)")
    found = ran(engine, sql, late, comes=(late.condition, "day IN (1, 2)"))
    assert found.late_uses == {"df1": LateUse.TOO_LATE}
    assert files(found) == (DAYS, DAYS)
    assert rows(found) == rows(plain)


ELSEWHERE = {
    "twice": f"SELECT count(*) FROM {SALES} s JOIN {SALES} t ON s.id = t.id JOIN late.days d ON s.day = d.k",
    "by one reference of two readers": f"WITH s AS (SELECT * FROM {SALES}) SELECT count(*) FROM s"
    " JOIN late.days d ON s.day = d.k JOIN s AS t ON s.id = t.id + 8",
    "in a subquery too": f"SELECT count(*) FROM {SALES} s JOIN late.days d ON s.day = d.k"
    f" WHERE s.id < (SELECT max(id * 2) FROM {SALES})",
}


@pytest.mark.parametrize("sql", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_table_that_a_plan_reads_in_several_places_is_left_alone(
    engine: SparkEngine, snapshot_id: int, sql: str
) -> None:
    found = ran(engine, sql, late_filter(snapshot_id, "day IN (0, 1)"))
    assert not found.late_uses
    assert rows(found) == rows(run(engine, sql))


@pytest.mark.parametrize(
    ("condition", "at"), [("no_such_column = 1", 0), ("day IN (0, 1)", 1)], ids=["fails", "another snapshot"]
)
def test_a_filter_that_does_not_fit_changes_nothing(
    engine: SparkEngine, snapshot_id: int, condition: str, at: int
) -> None:
    found = ran(engine, SMALL, late_filter(snapshot_id + at, condition))
    assert LateUse.USED not in found.late_uses.values()
    assert files(found) == (DAYS, DAYS)
    assert rows(found) == rows(run(engine, SMALL))


def test_a_condition_without_keys_changes_nothing(engine: SparkEngine, snapshot_id: int) -> None:
    nothing: Future[str | None] = Future()
    nothing.set_result(None)
    found = ran(engine, JOIN, LateFilter("df1", SALES, snapshot_id, nothing))
    assert (found.late_uses, files(found)) == ({}, (DAYS, DAYS))
