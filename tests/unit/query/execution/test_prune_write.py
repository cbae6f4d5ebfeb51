"""A statement that writes is pruned only where it changes the same rows, and runs as written otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from service.adapters.sql_writes.outcome_rows import outcome_rows
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryFailed
from service.errors.statement_errors import SqlWritesOff, StatementNotAllowed
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import DynamicFilteringData, Key
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameters, PruningRequest, QueryRequest, QueryState
from service.model.tables.tables import TableName
from service.model.writes.writes import Write, WriteKind, WriteState
from service.ports.engine.query_engine import EngineResult, Statement
from service.ports.stores.write_log import MarkedCommit
from service.query.execution.run_query import run_query
from service.query.registry.query_handle import QueryHandle
from service.sql_writes.sql_writes import SqlWriteBounds, SqlWrites
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.late_executor import LateExecutor
from tests.fakes.pruner import pruner
from tests.fakes.write_log import FakeCommitMarks, FakeWriteLog
from tests.unit.pruning.tables import TABLES
from tests.unit.query.conftest import Bench

SALES, CALENDAR = TableName("lake", "shop", "sales"), TableName("lake", "shop", "calendar")
MERGE = (
    "MERGE INTO lake.shop.sales AS t USING lake.shop.calendar s ON t.day_key = s.day_key -- days\n"
    "WHEN MATCHED THEN DELETE"
)
PRUNED_MERGE = (
    "MERGE INTO lake.shop.sales AS t USING (SELECT * FROM lake.shop.calendar VERSION AS OF 3 WHERE TRUE) s"
    " ON (t.day_key = s.day_key) AND (`t`.`day_key` IN (3, 9, NULL)) -- days\nWHEN MATCHED THEN DELETE"
)
DELETE = "DELETE FROM lake.shop.sales WHERE day_key IN (SELECT day_key FROM lake.shop.calendar)"
INSERT = (
    "INSERT INTO lake.shop.copy SELECT f.note FROM lake.shop.sales f JOIN lake.shop.calendar d"
    " ON f.day_key = d.day_key WHERE d.year = 2000"
)


AS_SET = PruningRequest()


class AnyKeys(FakeKeyCollector):
    """Collects the same keys for every query."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        super().__init__()
        self.keys = keys

    def collect(
        self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
    ) -> DynamicFilteringData | None:
        self.put(wanted.filtering_query, self.keys)
        return super().collect(wanted, parameters, is_canceled)


class WritingEngine(FakeEngine):
    """Writes what its parser has read; `refused` texts fail before anything begins, others after it."""

    def __init__(self, marks: FakeCommitMarks) -> None:
        super().__init__()
        self.marks = marks
        self.write = Write(WriteKind.MERGE, SALES, (str(SALES), str(CALENDAR)))
        self.texts: list[str] = []
        self.refused: GatewayError | None = None
        self.failure: GatewayError | None = None
        self.before_it_begins: Callable[[], None] = lambda: None

    def run(self, statement: Statement) -> EngineResult:
        if statement.begin_write is None:
            raise SqlWritesOff
        self.texts.append(statement.sql)
        if self.refused is not None and statement.sql != statement.origin:
            raise self.refused
        self.before_it_begins()
        statement.begin_write(self.write)
        if self.failure is not None:
            raise self.failure
        self.marks.commits[statement.query_id] = MarkedCommit(7, {})
        return self.answer


class Writing:
    def __init__(
        self, keys: tuple[Key, ...] = ((3,), (9,)), *, is_pruning: bool = True, is_late: bool = False
    ) -> None:
        self.marks = FakeCommitMarks()
        self.engine = WritingEngine(self.marks)
        self.catalogs = FakeCatalogs(
            tables=(table for at, table in TABLES.items() if at.version.kind == "NOW")
        )
        self.bench = Bench(engine=self.engine, catalogs=self.catalogs)
        bounds = SqlWriteBounds(settle_s=0.0, is_pruning=is_pruning)
        log = FakeWriteLog()
        self.writes = SqlWrites(log, self.marks, self.bench.clock, outcome_rows, bounds)
        self.pruner = pruner(
            self.catalogs,
            self.engine,
            FakeFilterCache(),
            self.bench.clock,
            is_enabled=True,
            reader=AnyKeys(keys),
            executor=LateExecutor((0,)) if is_late else None,
            collect_timeout_s=0 if is_late else 10,
            takes_late=True,
        )

    def run(self, sql: str, pruning: PruningRequest = AS_SET) -> QueryHandle:
        clock = self.bench.clock
        request = QueryRequest(sql, catalog="lake", schema="shop", pruning=pruning)
        query = QueryHandle(uuid4(), request, "ann", FULL_ACCESS, clock.now(), clock.elapsed_ms())
        run_query(query, replace(self.bench.ports, writes=self.writes, pruner=self.pruner))
        return query

    def reasons(self, sql: str) -> list[Reason]:
        """Returns the reasons of a statement that must run as it is written."""
        record = self.run(sql).record
        assert self.engine.texts == [sql]
        assert record.rewritten_sql is None
        return [found.reason for found in record.filters]


def test_a_merge_reads_the_files_that_its_keys_are_in() -> None:
    writing = Writing()
    record = writing.run(MERGE).record
    assert writing.engine.texts == [PRUNED_MERGE]
    assert (record.state, record.rewritten_sql) == (QueryState.SUCCEEDED, PRUNED_MERGE)
    [applied] = [found for found in record.filters if found.is_applied]
    assert (applied.probe.table, applied.probe.alias, applied.build.tables) == (SALES, "t", (CALENDAR,))


def test_a_delete_reads_the_files_that_its_keys_are_in() -> None:
    writing = Writing()
    writing.engine.write = Write(WriteKind.DELETE, SALES, (str(SALES), str(CALENDAR)))
    writing.run(DELETE)
    assert writing.engine.texts == [
        "DELETE FROM lake.shop.sales"
        " WHERE (day_key IN (SELECT day_key FROM lake.shop.calendar VERSION AS OF 3))"
        " AND (`sales`.`day_key` IN (3, 9, NULL))"
    ]


def test_a_target_that_no_key_is_in_is_still_scanned() -> None:
    # Without a scan, Iceberg would not look for conflicts.
    writing = Writing(keys=())
    writing.run(MERGE)
    assert "AND (`t`.`day_key` IN (0, NULL, NULL))" in writing.engine.texts[0]


def test_the_query_of_an_insert_is_pruned() -> None:
    writing = Writing()
    writing.engine.write = Write(
        WriteKind.INSERT, TableName("lake", "shop", "copy"), (str(SALES), str(CALENDAR))
    )
    writing.run(INSERT)
    [text] = writing.engine.texts
    assert text.startswith(
        "INSERT INTO lake.shop.copy SELECT f.note FROM (SELECT * FROM lake.shop.sales VERSION"
    )
    assert "`day_key` IN (3, 9" in text


def test_an_insert_runs_as_written_if_its_keys_are_late() -> None:
    writing = Writing(is_late=True)
    writing.engine.write = Write(
        WriteKind.INSERT, TableName("lake", "shop", "copy"), (str(SALES), str(CALENDAR))
    )
    assert Reason.COLLECT_TIMED_OUT in writing.reasons(INSERT)


@pytest.mark.parametrize(
    "sql",
    [
        # It would be read at an earlier snapshot than the rows that are changed.
        "DELETE FROM lake.shop.sales WHERE day_key IN (SELECT day_key FROM lake.shop.sales WHERE note = 'a')",
        MERGE.replace("lake.shop.calendar s", "(SELECT * FROM shop.sales) s"),
        # Not known, so not pinned.
        "DELETE FROM lake.shop.sales WHERE day_key IN (SELECT day_key FROM lake.shop.unheard)",
        MERGE.replace("WHEN MATCHED", "WHEN NOT MATCHED BY SOURCE"),
        "DELETE FROM lake.shop.sales WHERE day_key NOT IN (SELECT day_key FROM lake.shop.calendar)",
        "DELETE FROM lake.shop.sales WHERE note = 'a' OR day_key IN (SELECT day_key FROM lake.shop.calendar)",
    ],
)
def test_where_it_is_not_proven_the_statement_runs_as_written(sql: str) -> None:
    assert Reason.APPLIED not in Writing().reasons(sql)


BY_ITEM = MERGE.replace("lake.shop.calendar s", "lake.shop.item s").replace("day_key", "item_key")


def test_files_are_copied_only_if_a_predicate_is_true_of_all_their_rows() -> None:
    # A row that another writer deletes by its key would come back, and Iceberg would not see the conflict.
    writing = Writing()
    sales = writing.catalogs.facts(SALES)
    assert set(writing.reasons(BY_ITEM)) == {Reason.PROBE_NOT_PRUNABLE}
    adding = BY_ITEM.replace("WHEN MATCHED THEN DELETE", "WHEN NOT MATCHED THEN INSERT (item_key) VALUES (1)")
    for sql, kinds, is_pruned in (
        (BY_ITEM, ("DELETE", "UPDATE"), False),
        (BY_ITEM, ("MERGE",), True),
        (adding, (), True),
        (f"{adding} WHEN MATCHED THEN DELETE", (), False),
    ):
        writing = Writing()
        writing.engine.write = Write(WriteKind.MERGE, SALES, (str(SALES), "lake.shop.item"))
        writing.catalogs.put(replace(sales, merge_on_read=kinds))
        record = writing.run(sql).record
        assert (record.rewritten_sql is not None) is is_pruned, (sql, kinds)


def test_files_of_earlier_layouts_may_have_rows_of_other_keys() -> None:
    writing = Writing()
    writing.catalogs.put(replace(writing.catalogs.facts(SALES), has_one_spec=False))
    assert Reason.APPLIED not in writing.reasons(MERGE)


def test_without_the_setting_or_the_callers_wish_nothing_is_pruned() -> None:
    assert Writing(is_pruning=False).reasons(MERGE) == []
    writing = Writing()
    writing.run(MERGE, PruningRequest(is_enabled=False))
    assert writing.engine.texts == [MERGE]


@pytest.mark.parametrize(
    "write",
    [
        Write(WriteKind.DELETE, SALES, (str(SALES), str(CALENDAR))),
        Write(WriteKind.MERGE, CALENDAR, (str(SALES), str(CALENDAR))),
        Write(WriteKind.MERGE, SALES, (str(SALES), str(CALENDAR), "lake.shop.behind_a_view")),
    ],
    ids=["kind", "target", "reads"],
)
def test_where_the_engine_reads_the_text_otherwise_it_runs_as_written(write: Write) -> None:
    writing = Writing()
    writing.engine.write = write
    record = writing.run(MERGE).record
    assert writing.engine.texts == [PRUNED_MERGE, MERGE]
    assert (record.state, record.rewritten_sql) == (QueryState.SUCCEEDED, None)
    assert Reason.SNAPSHOT_MOVED in {found.reason for found in record.filters}


def test_a_target_whose_columns_have_changed_is_not_pruned() -> None:
    writing = Writing()

    def change() -> None:
        now = writing.catalogs.facts(SALES)
        writing.catalogs.put(replace(now, schema_id=now.schema_id + 1))

    writing.engine.before_it_begins = change
    assert writing.run(MERGE).record.state is QueryState.SUCCEEDED
    assert writing.engine.texts == [PRUNED_MERGE, MERGE]


def test_a_text_that_the_engine_rejects_runs_as_written() -> None:
    writing = Writing()
    writing.engine.refused = StatementNotAllowed("no")
    record = writing.run(MERGE).record
    assert writing.engine.texts == [PRUNED_MERGE, MERGE]
    assert record.write is not None
    assert record.write.state is WriteState.COMMITTED
    assert Reason.REWRITE_REJECTED in {found.reason for found in record.filters}


def test_what_has_begun_is_not_run_again() -> None:
    writing = Writing()
    writing.engine.failure = QueryFailed("late")
    record = writing.run(MERGE).record
    assert writing.engine.texts == [PRUNED_MERGE]
    assert record.state is QueryState.FAILED
