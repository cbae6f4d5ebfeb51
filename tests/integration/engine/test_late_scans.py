"""Filters that come while a query runs leave out files of scans that have not begun."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from service.model.tables.tables import TableName
from service.ports.engine.late_filters import LateFilter, LateUse
from service.ports.engine.query_engine import EngineResult
from spark_session.engine.engine import SparkEngine
from spark_session.session.late_scans import PLANNERS, LateScans
from tests.integration.engine.test_engine import prepare, run, statement
from tests.polling import until

pytestmark = pytest.mark.integration

SALES = TableName("lake", "late", "sales")
DAYS = 8
JOIN = f"SELECT /*+ BROADCAST(d) */ day, count(*) AS n FROM {SALES} JOIN late.days d ON day = d.k GROUP BY 1"
SMALL = f"SELECT /*+ BROADCAST(d) */ sum(s.id) FROM {SALES} s JOIN late.days d ON s.day = d.k WHERE d.v >= 0"


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    prepare(
        shared_engine,
        "CREATE NAMESPACE IF NOT EXISTS lake.late",
        # Spark prunes by partitions alone. Each of these has the rows of one day.
        f"CREATE TABLE {SALES} (id BIGINT, part INT, day INT) USING iceberg PARTITIONED BY (part)"
        " TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
        f"INSERT INTO {SALES} SELECT id, id % {DAYS}, id % {DAYS} FROM range(1000)",
        # In files of deletes beside those of odd days.
        f"DELETE FROM {SALES} WHERE id % 10 = 3",
        "CREATE TABLE lake.late.days USING iceberg AS SELECT INT(id) AS k, id AS v FROM range(2)",
    )
    return shared_engine


@pytest.fixture(scope="module")
def snapshot_id(engine: SparkEngine) -> int:
    assert engine.session is not None
    snapshots = f"SELECT snapshot_id FROM {SALES}.snapshots ORDER BY committed_at DESC LIMIT 1"
    [row] = engine.session.root.sql(snapshots).collect()
    return int(row[0])


@contextmanager
def no_task_begins(engine: SparkEngine, folder: Path) -> Iterator[None]:
    """Occupies both cores of the engine, at next to no cost, until the block ends."""
    assert engine.session is not None
    end = folder / "end"

    def occupy(core: int) -> None:
        (folder / f"began-{core}").touch()
        ends_at = time.monotonic() + 120
        while not end.exists() and time.monotonic() < ends_at:
            time.sleep(0.02)

    cores = engine.session.context.parallelize(range(2), 2)
    with ThreadPoolExecutor(1) as occupier:
        occupied = occupier.submit(cores.foreach, occupy)
        try:
            until(lambda: occupied.done() or len(list(folder.glob("began-*"))) == 2)
            yield
        finally:
            end.touch()
        occupied.result()


def ran(engine: SparkEngine, sql: str, *late: LateFilter) -> EngineResult:
    """Runs the statement, whose conditions are there or never come."""
    return engine.run(replace(statement(sql), late_filters=late))


def ran_beside(engine: SparkEngine, sql: str, late: LateFilter, condition: str, folder: Path) -> EngineResult:
    """Runs the statement. Its condition comes, and is planned, while its first job waits for a core."""
    asked = replace(statement(sql), late_filters=(late,))
    assert engine.session is not None
    tracker, planners = engine.session.context._jsc.sc().statusTracker(), engine.session.late_scans._planners
    with ThreadPoolExecutor(1) as runner:
        with no_task_begins(engine, folder):
            running = runner.submit(engine.run, asked)
            until(lambda: running.done() or len(tracker.getJobIdsForTag(str(asked.query_id))) > 0)
            late.condition.set_result(condition)
            # When all planners are here, none of them is busy with anything else.
            here = threading.Barrier(PLANNERS)
            wait([planners.submit(here.wait, 30) for _ in range(PLANNERS)])
        return running.result()


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
    engine: SparkEngine, snapshot_id: int, plain: EngineResult, tmp_path: Path
) -> None:
    late = late_filter(snapshot_id)
    found = ran_beside(engine, JOIN, late, "day IN (0, 1)", tmp_path)
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


def test_files_are_left_out_beside_those_that_spark_prunes_itself(
    engine: SparkEngine, snapshot_id: int
) -> None:
    sql = f"SELECT /*+ BROADCAST(d) */ count(*) FROM {SALES} s JOIN late.days d ON s.part = d.k WHERE d.v > 0"
    plain, found = run(engine, sql), ran(engine, sql, late_filter(snapshot_id, "day IN (1, 2)"))
    assert files(plain) == files(found) == (1, DAYS)
    assert found.late_uses == {"df1": LateUse.USED}
    assert rows(found) == rows(plain) == [(100,)]


def test_a_scan_that_keeps_no_file_still_has_a_partition(engine: SparkEngine, snapshot_id: int) -> None:
    sql = f"SELECT /*+ BROADCAST(d) */ count(*) FROM {SALES} s JOIN late.days d ON s.id = d.v - 9"
    found = ran(engine, sql, late_filter(snapshot_id, "id < 0"))
    assert (found.late_uses, files(found)) == ({"df1": LateUse.USED}, (1, DAYS))
    assert rows(found) == [(0,)]


def test_a_filter_that_comes_after_the_scan_has_begun_is_too_late(
    engine: SparkEngine, snapshot_id: int, plain: EngineResult, tmp_path: Path
) -> None:
    late = late_filter(snapshot_id)
    sql = JOIN.replace("BROADCAST(d)", "MERGE(d)")
    found = ran_beside(engine, sql, late, "day IN (0, 1)", tmp_path)
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


def test_rows_of_another_reference_are_not_left_out_where_the_own_scan_is_gone(
    engine: SparkEngine, snapshot_id: int
) -> None:
    # Spark drops the outer join: of its rows, only those of the days are asked for.
    kept = f"(SELECT DISTINCT d.k FROM late.days d LEFT JOIN {SALES} s ON s.day = d.k)"
    sql = f"SELECT count(*) FROM {kept} d JOIN {SALES} t ON t.day > d.k"
    found = ran(engine, sql, late_filter(snapshot_id, "day IN (0, 1)"))
    assert not found.late_uses
    assert rows(found) == rows(run(engine, sql)) == [(1450,)]


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


def test_an_engine_that_takes_no_late_filters_leaves_plans_as_they_are(
    engine: SparkEngine, snapshot_id: int
) -> None:
    session = engine.session
    assert session is not None
    off = LateScans(session.jvm.gateway, session.root, session.children, is_on=False)
    with session.children.taken(None, None, "off") as child:
        frame = child.sql(SMALL)
        with off.watched(frame, [late_filter(snapshot_id, "day IN (0, 1)")]) as late:
            frame.collect()
        assert (late.scans, late.uses()) == ((), {})
        [scan] = [scan for scan in session.scan_reader.read(frame) if scan.table == str(SALES)]
    assert scan.metrics.data_files.selected == DAYS
    off.close()
