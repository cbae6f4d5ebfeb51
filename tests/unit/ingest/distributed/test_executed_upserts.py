"""Upserts on executors, over real files: the last row of each key counts, wherever it was read."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow.parquet as pq
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import BooleanType, DateType, DecimalType, LongType, NestedField, StringType, UUIDType

from service.adapters.catalogs.iceberg_schemas import pyiceberg_schema, table_schema
from service.adapters.clock import SystemClock
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.sources.find import FoundSources
from service.adapters.sources.open import SplitsOfStorage
from service.adapters.sources.storage import SourceAccess
from service.adapters.staging.staged_bodies import StagedBodies
from service.adapters.staging.task_spools import TaskSpools
from service.errors.ingest_errors import RecordsInvalid, UpsertTooLarge
from service.ingest.dead_letters.dead_letters import FIELDS
from service.ingest.distributed.large_parts import LargeBounds, LargeInputs
from service.ingest.distributed.write_executed import ExecutedWrite, WritePorts
from service.model.ingest.ingest import OnError
from service.model.ingest.ingest_request import IngestRequest, Route, StreamedRecords, Write
from service.model.ingest.micro_batches import FoundFiles, MicroBatchFiles, MicroBatchRecords
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceBounds, SourceFile, SourceRecords
from service.model.ingest.validation_schema import ValidationSchema
from service.model.ingest.writing import Destination, TableKey, WritableTable, WriteTarget
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName
from tests.fakes.executors import FakeExecutors
from tests.fakes.micro_batches import FakeMicroBatch
from tests.unit.adapters.data_files.states import files_below, spec_of, state_of

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "kind", StringType()),
    NestedField(3, "day", DateType()),
    NestedField(4, "price", DecimalType(9, 2)),
    NestedField(5, "who", UUIDType()),
    NestedField(6, "is_open", BooleanType()),
    NestedField(7, "turn", LongType()),
)
NAMES = [field.name for field in SCHEMA.fields]
Record = dict[str, Any]


class DeadLetterSink:
    """Tables of dead letters on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def opened(self, name: TableName) -> WritableTable:
        schema = TableSchema(0, FIELDS)
        state = state_of(self._folder / name.table, schema=pyiceberg_schema(schema), spec=spec_of())
        return WritableTable(TableKey(name), UUID(int=2), 2, schema, 4, (), (), state.encoded())


class Executed:
    """Writes requests for one table on fake executors."""

    def __init__(self, folder: Path, keys: tuple[int, ...], bounds: LargeBounds | None = None) -> None:
        self.folder = folder
        self.executors = FakeExecutors()
        self.keys = keys
        self.bounds = bounds or LargeBounds(split_bytes=512, upsert_bytes=2**20)
        self.target = self._destination("t", is_upsert=True)
        self.appended = self._destination("others", is_upsert=False)

    def write(self, request: IngestRequest, *more: Destination) -> ExecutedWrite:
        access = SourceAccess((self.folder.as_uri(),))
        sources = FoundSources(access, SourceBounds())
        bodies = StagedBodies(sees_disk=True)
        large = LargeInputs(
            executors=self.executors,
            sources=sources,
            open_split=SplitsOfStorage(access),
            bodies=bodies,
            spools=TaskSpools(),
            bounds=self.bounds,
        )
        data_files = ParquetDataFiles(WriteBounds(upsert_bytes=self.bounds.upsert_bytes))
        ports = WritePorts(
            data_files=data_files, dead_letters=DeadLetterSink(self.folder), clock=SystemClock()
        )
        executed = ExecutedWrite(request, uuid4(), (self.target, *more), ports, large)
        executed.run()
        return executed

    def body(self, records: Iterable[Record], *more: Destination, **fields: Any) -> ExecutedWrite:
        data = text(records)
        body = StreamedRecords(lambda: io.BytesIO(data), RecordFormat.NDJSON)
        return self.write(replace(self._request(), shared=body, **fields), *more)

    def source(self, names: str) -> ExecutedWrite:
        source = SourceRecords(f"{self.folder.as_uri()}/{names}", RecordFormat.NDJSON)
        return self.write(replace(self._request(), executed=source))

    def _request(self) -> IngestRequest:
        return IngestRequest((Write(self.target.table.key, (), is_upsert=True),), "f")

    def _destination(self, name: str, is_upsert: bool) -> Destination:
        state = state_of(self.folder / name, schema=SCHEMA, spec=spec_of())
        key = TableKey(TableName("lake", "s", name))
        table = WritableTable(key, UUID(int=1), 2, table_schema(SCHEMA), 4, (), (), state.encoded())
        keys = self.keys if is_upsert else ()
        return Destination(table, WriteTarget(key, 0, 4, is_upsert, keys))


def text(records: Iterable[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def rows(files: Sequence[str]) -> list[Record]:
    paths = [json.loads(file)["file-path"].removeprefix("file://") for file in files]
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def last_turns(records: Iterable[Record], *names: str) -> set[int]:
    by_key = {tuple(str(record.get(name)) for name in names): record["turn"] for record in records}
    return set(by_key.values())


def check(executed: ExecutedWrite, records: Sequence[Record], *names: str) -> None:
    [result] = executed.results
    turns = [row["turn"] for row in rows(result.data_files)]
    expected = last_turns(records, *names)
    assert sorted(turns) == sorted(expected)
    # Each key is deleted once from earlier snapshots.
    deleted = [tuple(map(str, row.values())) for row in rows(result.delete_files)]
    assert len(deleted) == len(set(deleted)) == len(expected)


def made(count: int, rng: random.Random) -> Iterator[Record]:
    """Yields records in which each key occurs about ten times."""
    for turn in range(count):
        yield {
            "id": rng.choice([None, *range(count // 10)]),
            "kind": rng.choice([None, "", "a", "b"]),
            "day": rng.choice([None, "2026-01-01", "1969-12-31"]),
            "price": rng.choice([None, "1.00", "-1.00"]),
            "who": rng.choice([None, str(UUID(int=7))]),
            "is_open": rng.choice([None, True, False]),
            "turn": turn,
        }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("keys", [(1,), (2,), (1, 2), (3, 5), (4, 6), (6,)], ids=str)
def test_of_the_rows_of_a_key_in_all_parts_of_a_body_the_last_is_written(
    tmp_path: Path, keys: tuple[int, ...], seed: int
) -> None:
    records = list(made(600, random.Random(seed)))
    executed = Executed(tmp_path, keys)
    check(executed.body(records), records, *(NAMES[key - 1] for key in keys))
    [read, parts] = executed.executors.jobs
    assert read > 1
    assert parts > 1


def test_of_the_rows_of_a_key_in_several_files_that_of_the_last_file_is_written(tmp_path: Path) -> None:
    records = list(made(600, random.Random(1)))
    for number in range(6):
        part = text(records[number * 100 : number * 100 + 100])
        # Compressed files keep their place among the others.
        packed = number % 2
        name = f"{number}.json" + (".gz" if packed else "")
        (tmp_path / name).write_bytes(gzip.compress(part) if packed else part)
    check(Executed(tmp_path, (1, 2)).source("*.json*"), records, "id", "kind")


def test_rows_too_many_for_one_task_are_divided_again(tmp_path: Path) -> None:
    # Each key has one row, whose text is as short as possible but takes more in memory.
    records = [{"id": number, "turn": number} for number in range(3000)]
    executed = Executed(tmp_path, (1,), LargeBounds(split_bytes=2**20, upsert_bytes=80_000))
    written = executed.body(records)
    check(written, records, "id")
    assert len(executed.executors.jobs) > 2
    [result] = written.results
    # The files of the first attempt were removed.
    assert len(files_below(tmp_path)) == len(result.data_files) + len(result.delete_files)


def test_rows_too_many_however_they_are_divided_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    # All rows have one of three keys, and no division splits a key.
    records = [{"id": number, "is_open": number % 2 == 0, "kind": "x" * 50_000} for number in range(4)]
    executed = Executed(tmp_path, (6,), LargeBounds(split_bytes=512, upsert_bytes=60_000))
    with pytest.raises(UpsertTooLarge, match="several requests"):
        executed.body(records)
    assert files_below(tmp_path) == []


def test_one_bad_record_anywhere_leaves_neither_rows_nor_deletes(tmp_path: Path) -> None:
    records: list[Record] = [{"id": number, "turn": number} for number in range(300)]
    with pytest.raises(RecordsInvalid, match="1 of 301"):
        Executed(tmp_path, (1,)).body([*records[:200], {"id": "x"}, *records[200:]])
    assert files_below(tmp_path) == []


def test_bad_records_become_dead_letters_of_their_lines(tmp_path: Path) -> None:
    records: list[Record] = [{"id": number, "turn": number} for number in range(300)]
    sent = [*records[:200], {"id": "x"}, *records[200:]]
    upserted, dead_letters = Executed(tmp_path, (1,)).body(sent, on_error=OnError.DEAD_LETTER).results
    assert len(rows(upserted.data_files)) == 300
    [dead_letter] = rows(dead_letters.data_files)
    assert (dead_letter["position"], dead_letter["payload"]) == ("line 201", '{"id": "x"}')
    assert dead_letters.delete_files == ()


def test_what_is_appended_beside_an_upsert_is_there_as_often_as_it_was_sent(tmp_path: Path) -> None:
    records = list(made(600, random.Random(2)))
    executed = Executed(tmp_path, (1,))
    writes = (Write(executed.target.table.key, (), is_upsert=True), Write(executed.appended.table.key, ()))
    route = Route("kind", {"a": 1}, otherwise=0)
    written = executed.body(records, executed.appended, writes=writes, route=route)
    upserted, appended = written.results
    remaining = [record for record in records if record["kind"] != "a"]
    assert {row["turn"] for row in rows(upserted.data_files)} == last_turns(remaining, "id")
    turns = [row["turn"] for row in rows(appended.data_files)]
    assert sorted(turns) == [record["turn"] for record in records if record["kind"] == "a"]
    assert appended.delete_files == ()


def test_of_the_rows_of_a_key_that_come_by_several_routes_the_last_is_written(tmp_path: Path) -> None:
    records = list(made(300, random.Random(5)))
    executed = Executed(tmp_path, (1,))
    writes = (Write(executed.target.table.key, (), is_upsert=True),) * 2
    route = Route("kind", {"a": 1}, otherwise=0)
    check(executed.body(records, executed.target, writes=writes, route=route), records, "id")
    batch = MicroBatchRecords(FakeMicroBatch(uuid4(), 0, *text(records).splitlines()))
    request = replace(executed._request(), executed=batch, writes=writes, route=route)
    check(executed.write(request, executed.target), records, "id")


@pytest.mark.parametrize("keys", [(1,), (2, 6)], ids=str)
def test_of_the_messages_of_a_key_in_a_micro_batch_the_last_is_written(
    tmp_path: Path, keys: tuple[int, ...]
) -> None:
    records = list(made(300, random.Random(3)))
    batch = FakeMicroBatch(uuid4(), 0, *text(records).splitlines())
    executed = Executed(tmp_path, keys)
    written = executed.write(replace(executed._request(), executed=MicroBatchRecords(batch)))
    check(written, records, *(NAMES[key - 1] for key in keys))


def test_a_table_that_has_its_part_of_a_micro_batch_is_left_out(tmp_path: Path) -> None:
    executed = Executed(tmp_path, (1,))
    writes = (Write(executed.target.table.key, (), is_upsert=True), Write(executed.appended.table.key, ()))
    route = Route("kind", {"a": 1}, otherwise=0)
    lines = (b'{"id": 1, "kind": "a"}', b'{"id": 2, "kind": "b"}')
    for left_out, left in ((executed.target, executed.appended), (executed.appended, executed.target)):
        batch = MicroBatchRecords(FakeMicroBatch(uuid4(), 0, *lines), frozenset({left_out.table.key}))
        request = replace(executed._request(), executed=batch, writes=writes, route=route)
        [result] = executed.write(request, executed.appended).results
        assert (result.target, result.record_count) == (left.target, 1)


def folder_batch(folder: Path, *names: str) -> MicroBatchFiles:
    files = [(folder / name).as_uri() for name in names]

    def found(uris: Sequence[str]) -> FoundFiles:
        paths = [Path(uri.removeprefix("file://")) for uri in uris]
        return FoundFiles(
            [SourceFile(path.as_uri(), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
        )

    records = SourceRecords(folder.as_uri(), RecordFormat.NDJSON)
    return MicroBatchFiles(FakeMicroBatch(uuid4(), 0, files=files), records, found)


def test_of_the_rows_of_a_key_in_the_files_of_a_micro_batch_that_of_the_last_file_is_written(
    tmp_path: Path,
) -> None:
    records = list(made(600, random.Random(4)))
    names = [f"{9 - number}.json" for number in range(6)]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(text(records[number * 100 : number * 100 + 100]))
    executed = Executed(tmp_path, (1, 2))
    batch = folder_batch(tmp_path, *names)
    check(executed.write(replace(executed._request(), executed=batch)), records, "id", "kind")


def test_a_file_of_a_micro_batch_that_cannot_be_read_is_no_part_of_its_upsert(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(text([{"id": 1, "turn": 1}, {"id": 2, "turn": 2}]))
    broken = text([{"id": 1, "turn": 3}, {"id": 9, "turn": 4}] * 5_000)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(broken)[:-9])
    (tmp_path / "c.json").write_bytes(text([{"id": 2, "turn": 5}]) + b'{"id": "x"}\n')
    executed = Executed(tmp_path, (1,))
    batch = folder_batch(tmp_path, "a.json", "b.json.gz", "c.json")
    request = replace(executed._request(), executed=batch, on_error=OnError.DEAD_LETTER)
    written = executed.write(request)
    check(written, [{"id": 1, "turn": 1}, {"id": 2, "turn": 5}], "id")
    assert written.rejected.count == 2
    revalidated = written.validated_schemas
    assert revalidated is not None
    assert [file.uri for file in revalidated.unreadable] == [(tmp_path / "b.json.gz").as_uri()]
    # The files of the first attempt were removed.
    [result] = written.results
    below = [file for file in files_below(tmp_path) if str(file).endswith(".parquet")]
    assert len(below) == len(result.data_files) + len(result.delete_files)
    # The dead letters of an upsert are appended.
    validation_schema = ValidationSchema(revalidated.reads, frozenset({0}), revalidated.unreadable)
    [result] = executed.write(
        replace(request, executed=replace(batch, validation_schema=validation_schema))
    ).results
    positions = [row["position"].rsplit("/", 1)[1] for row in rows(result.data_files)]
    assert sorted(positions) == ["b.json.gz", "c.json, line 2"]
    assert result.delete_files == ()
