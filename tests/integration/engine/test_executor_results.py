"""Rows that executors write to a folder, against the same rows through the driver."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import UUID, uuid4

import pyarrow as pa
import pytest

from service.adapters.clock import SystemClock
from service.adapters.results.result_store import FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from service.errors.query_errors import NoRoomForResult, QueryCanceled, QueryEnded, QueryFailed
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.results import Manifest
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.engine import SparkEngine
from tests.integration.queries.test_result_types import SHAPES, columns_of
from tests.polling import until

pytestmark = pytest.mark.integration

MANY = 50_000
"""More than are collected a few tasks at a time."""
BATCH_ROWS = 1_000


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    return shared_engine


@dataclass(frozen=True)
class Rig:
    """An engine, and a store whose results it writes."""

    engine: SparkEngine
    store: FolderResultStore
    folder: Path

    def statement(self, sql: str, row_limit: int = MANY, byte_limit: int = 1 << 30) -> Statement:
        return Statement(
            uuid4(), sql, (), None, None, row_limit, byte_limit, is_canceled=lambda: False, access=FULL_ACCESS
        )

    def written(self, statement: Statement) -> EngineResult:
        """Runs the statement so that no row comes through the driver."""
        place = self.store.place(statement.query_id)
        assert place is not None
        return self.engine.run(replace(statement, place=replace(place, inline_bytes=0)))

    def keep(self, statement: Statement) -> tuple[pa.Table, Manifest]:
        """Runs the statement, keeps its rows, and reads them again, both ways."""
        result = self.written(statement)
        query_id, shape = statement.query_id, (result.columns, result.is_truncated)
        # A query that has few rows in any case is collected; so is the batch in which a result is cut.
        if result.written is None:
            manifest = self.store.put(query_id, result.rows, *shape)
        else:
            manifest = self.store.keep(query_id, result.written, *shape)
        chunks = [self.store.chunk(query_id, chunk.index) for chunk in manifest.chunks]
        rows = pa.concat_tables(chunks)
        stream = self.store.open(query_id)
        whole = pa.ipc.open_stream(b"".join(stream.blocks(0, stream.byte_count))).read_all()
        whole.validate(full=True)
        assert whole.equals(rows)
        assert [chunk.num_rows for chunk in chunks] == [chunk.row_count for chunk in manifest.chunks]
        return rows, manifest

    def files(self) -> list[Path]:
        return [
            path for path in self.folder.rglob("*") if path.is_file() and path.name not in {"lock", ".lock"}
        ]


@pytest.fixture
def rig(engine: SparkEngine, tmp_path: Path) -> Iterator[Rig]:
    folder = tmp_path / "my results"
    bounds = ResultBounds(chunk_rows=BATCH_ROWS, time_to_live=timedelta(minutes=10))
    store = FolderResultStore(folder, SystemClock(), bounds)
    yield Rig(engine, store, folder)
    store.close()


def size_of(rows: pa.Table) -> int:
    """Returns the bytes of rows whose batches begin where those of the files do."""
    return sum(batch.nbytes for batch in rows.to_batches())


@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_is_the_same_written_inline_and_collected(shape: str, rig: Rig) -> None:
    columns = ", ".join(f"{sql} AS {name}" for name, (sql, _) in columns_of(shape).items())
    statement = rig.statement(f"SELECT {columns} FROM range(1, 10, 2, 3)")
    collected = rig.engine.run(statement)
    assert collected.written is None
    rows, manifest = rig.keep(statement)
    assert "rows.part" not in {path.name for path in rig.files()}
    assert rows.schema == collected.rows.schema
    assert rows.equals(collected.rows)
    assert manifest.byte_count == size_of(rows)
    inline = rig.engine.run(replace(statement, place=rig.store.place(uuid4())))
    assert inline.written is None
    assert (inline.rows.schema, inline.rows.equals(rows)) == (rows.schema, True)
    assert not inline.is_truncated


def generated(seed: int) -> str:
    """Returns a query of rows with NULLs, empty and long values at random places, from a seed."""
    random = Random(seed)
    count, parts = random.choice([1, 7, 999, 1_000, 1_001, 3_500]), random.randint(1, 5)
    values = [
        "id",
        "CAST(id % 7 AS TINYINT)",
        "CAST(id AS DECIMAL(38, 3)) / 7",
        "id % 2 = 0",
        f"repeat('ü', CAST(id % {random.randint(1, 50)} AS INT))",
        "CAST(CAST(id AS STRING) AS BINARY)",
        "timestamp_micros(id * 1000003)",
        "DATE'1970-01-01' + CAST(id AS INT)",
        "sequence(0, CAST(id % 4 AS INT))",
        "slice(array(id), 1, CAST(id % 2 AS INT))",
        "map(CAST(id AS STRING), array(named_struct('x', id, 'y', NULL)))",
        "named_struct('a', id, 'b', slice(array('é'), 1, CAST(id % 2 AS INT)))",
        "CAST(NULL AS STRING)",
        "CAST(id AS DOUBLE) / 3",
    ]
    chosen = [
        f"IF(id % {random.randint(1, 4)} = 0, {value}, NULL) AS c{number}" if random.random() < 0.6 else value
        for number, value in enumerate(random.sample(values, random.randint(1, len(values))))
    ]
    where = random.choice(["", f" WHERE id % 3 <> {random.randint(0, 3)}", f" WHERE id > {count // 2}"])
    return f"SELECT {', '.join(chosen)} FROM range(0, {count}, 1, {parts}){where}"


@pytest.mark.parametrize("seed", range(25))
def test_generated_rows_are_the_same_whole_and_cut(seed: int, rig: Rig) -> None:
    random = Random(seed)
    statement = rig.statement(generated(seed))
    collected = rig.engine.run(statement).rows
    if not collected.num_rows:
        assert rig.engine.run(replace(statement, place=rig.store.place(uuid4()))).rows.equals(collected)
        return
    rows, manifest = rig.keep(statement)
    assert rows.equals(collected)
    assert manifest.byte_count == size_of(rows)
    for row_limit, byte_limit in (
        (random.randint(1, rows.num_rows), 1 << 30),
        (MANY, random.randint(1, manifest.byte_count)),
        (random.randint(1, rows.num_rows), random.randint(1, manifest.byte_count)),
    ):
        part, shape = rig.keep(rig.statement(statement.sql, row_limit, byte_limit))
        assert part.equals(collected.slice(0, part.num_rows))
        assert part.num_rows <= row_limit
        assert part.num_rows == 1 or size_of(part) <= byte_limit
        assert shape.is_truncated == (part.num_rows < collected.num_rows)
        if shape.is_truncated and part.num_rows < row_limit:
            # One row more would be too much.
            more = rows.slice(0, part.num_rows + 1)
            assert size_of(more) > byte_limit


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM range(0, 20000, 1, 7) ORDER BY id DESC",
        "SELECT id % 100 AS k, count(*) AS n FROM range(0, 20000, 1, 7) GROUP BY 1 ORDER BY 2, 1",
        "SELECT id FROM range(0, 20000, 1, 7) WHERE id > 15000",
        "SELECT * EXCEPT (id) FROM range(0, 5000, 1, 3)",
    ],
)
@pytest.mark.parametrize("row_limit", [1, 999, 1_000, 30_000])
def test_rows_keep_their_order_and_their_limit(sql: str, row_limit: int, rig: Rig) -> None:
    statement = rig.statement(sql, row_limit)
    collected = rig.engine.run(statement)
    result = rig.written(statement)
    if result.written is None:
        # So few that they were collected.
        assert result.rows.equals(collected.rows)
        return
    manifest = rig.store.keep(statement.query_id, result.written, result.columns, result.is_truncated)
    chunks = [rig.store.chunk(statement.query_id, chunk.index) for chunk in manifest.chunks]
    assert sum(chunk.num_rows for chunk in chunks) == collected.rows.num_rows
    if collected.rows.num_columns:
        assert pa.concat_tables(chunks).equals(collected.rows)
    assert manifest.is_truncated == collected.is_truncated
    offsets = [chunk.row_offset for chunk in manifest.chunks]
    assert offsets == [
        sum(chunk.row_count for chunk in manifest.chunks[:index]) for index in range(len(offsets))
    ]


def test_a_limit_ends_a_query_that_would_not_end(rig: Rig) -> None:
    rows, manifest = rig.keep(rig.statement("SELECT id FROM range(0, 1000000000000, 1, 2000)", 30_000))
    assert (rows.column("id").to_pylist(), manifest.is_truncated) == (list(range(30_000)), True)
    by_bytes, manifest = rig.keep(
        rig.statement("SELECT id FROM range(0, 1000000000000, 1, 2000)", 10**9, byte_limit=80_000)
    )
    assert (by_bytes.num_rows, manifest.byte_count, manifest.is_truncated) == (10_000, 80_000, True)


def test_one_row_that_is_too_large_is_an_answer(rig: Rig) -> None:
    rows, manifest = rig.keep(rig.statement("SELECT repeat('x', 5000) AS x FROM range(1)", byte_limit=1_000))
    assert (rows.num_rows, manifest.is_truncated) == (1, False)
    rows, manifest = rig.keep(rig.statement("SELECT repeat('x', 5000) AS x FROM range(3)", byte_limit=1_000))
    assert (rows.num_rows, manifest.is_truncated) == (1, True)


def test_few_rows_of_each_task_come_through_the_driver_and_leave_no_folder(rig: Rig) -> None:
    statement = rig.statement("SELECT id FROM range(0, 1000, 1, 4)")
    place = rig.store.place(statement.query_id)
    result = rig.engine.run(replace(statement, place=place))
    assert (result.written, result.rows.num_rows, rig.files()) == (None, 1_000, [])
    rig.store.put(statement.query_id, result.rows, result.columns, result.is_truncated)
    assert [path.name for path in rig.files()] == ["rows.part"]


def test_a_failure_half_way_leaves_nothing(rig: Rig) -> None:
    statement = rig.statement("SELECT IF(id = 39000, raise_error('no'), id) AS n FROM range(0, 40000, 1, 2)")
    with pytest.raises(QueryFailed):
        rig.written(statement)
    rig.store.drop(statement.query_id)
    until(lambda: rig.files() == [])


def test_a_canceled_query_leaves_nothing(rig: Rig) -> None:
    statement = rig.statement("SELECT id, uuid() AS u FROM range(0, 1000000000, 1, 4)", 10**9, 1 << 40)
    ended: list[QueryEnded] = []

    def run() -> None:
        try:
            rig.written(replace(statement, is_canceled=canceled.is_set))
        except QueryEnded as failure:
            ended.append(failure)

    canceled = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: any(path.stat().st_size > 1_000_000 for path in rig.files()))
    canceled.set()
    rig.engine.cancel(statement.query_id)
    thread.join(30)
    assert [type(failure) for failure in ended] == [QueryCanceled]
    rig.store.drop(statement.query_id)
    # A task that still writes has no folder any more.
    until(lambda: not list(rig.folder.rglob(f"{statement.query_id}*")))


def test_a_full_disk_is_a_failure_of_its_own_and_leaves_nothing(rig: Rig) -> None:
    assert rig.engine.session is not None
    pid = rig.engine.session.jvm.process.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    statement = rig.statement("SELECT id, uuid() AS u FROM range(0, 200000, 1, 2)", 10**6)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(NoRoomForResult):
            rig.written(statement)
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
    rig.store.drop(statement.query_id)
    assert rig.files() == []
    assert rig.keep(rig.statement("SELECT id FROM range(10)"))[0].num_rows == 10


def test_a_folder_that_cannot_be_written_is_named_without_its_path(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    statement = rig.statement("SELECT id FROM range(0, 40000, 1, 2)")
    place = rig.store.place(UUID(int=1))
    assert place is not None
    broken = replace(place, address=(tmp_path / "file" / "below").as_uri(), inline_bytes=0)
    with pytest.raises(QueryFailed) as caught:
        rig.engine.run(replace(statement, place=broken))
    assert str(tmp_path) not in caught.value.detail
