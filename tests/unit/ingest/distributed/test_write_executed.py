"""Large inputs over fakes: the results of tasks are combined, or all of them are removed."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid, WriteSchemaInvalid
from service.errors.source_errors import SourceChanged
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import ExecutorsFailed
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.distributed.split_reader import SplitReader
from service.ingest.distributed.split_task import SplitTask
from service.model.ingest.ingest import IngestRecord, IngestState, OnError
from service.model.ingest.ingest_request import (
    ColumnNames,
    InferredColumns,
    IngestRequest,
    Route,
    StreamedRecords,
    Write,
)
from service.model.ingest.micro_batches import FoundFiles, MicroBatchFiles, MicroBatchRecords
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.writing import TableKey
from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.table_creation import RequestedSchema
from service.model.tables.tables import TableName
from service.ports.tables.sources import never
from tests.fakes.ingest_service import FakeIngests
from tests.fakes.micro_batches import FakeMicroBatch
from tests.unit.ingest.wide_table import DAY, ID, NOTE, with_columns

WITHIN_S = 20
TABLE = with_columns(ID, NOTE, DAY)
OTHER = replace(TABLE, key=TableKey(TableName("lake", "logs", "others")), table_uuid=UUID(int=2))
WRITE = Write(TABLE.key, (), ColumnNames(("id", "note")))
INFERRED = replace(WRITE, write_schema=InferredColumns.INFER)
AT = Field(40, "at", Primitive("timestamp"), is_required=False)


@pytest.fixture
def ingests(tmp_path: Path) -> Iterator[FakeIngests]:
    made = FakeIngests(TABLE, OTHER, sources_folder=tmp_path)
    yield made
    made.close(WITHIN_S)


def of_source(folder: Path, names: str, *writes: Write, **more: object) -> IngestRequest:
    source = SourceRecords(f"{folder.as_uri()}/{names}", RecordFormat.NDJSON)
    return replace(IngestRequest(writes or (WRITE,), "f", executed=source), **more)  # type: ignore[arg-type]


def ended(ingests: FakeIngests, request: IngestRequest) -> IngestRecord:
    accepted = ingests.accept(request, "ann", FULL_ACCESS)
    accepted.settled.result(WITHIN_S)
    return ingests.find(accepted.record.ingest_id, "ann")


def lines(*ids: object) -> bytes:
    return b"".join(json.dumps({"id": id_}).encode() + b"\n" for id_ in ids)


def ids(ingests: FakeIngests) -> list[int]:
    return sorted(row["id"] for rows in ingests.files.files.values() for row in rows)


def test_days_become_moments_where_the_schema_says_so(ingests: FakeIngests, tmp_path: Path) -> None:
    at = Field(9, "at", Primitive("timestamp"))
    ingests.tables.put(with_columns(ID, at))
    (tmp_path / "a.json").write_bytes(b'{"id":1,"at":"2026-01-31"}')
    sent = RequestedSchema(TableSchema(0, (ID, replace(at, type=Primitive("date")))))
    ended(ingests, of_source(tmp_path, "*", replace(WRITE, write_schema=None, schema=sent)))
    [[row]] = ingests.files.files.values()
    assert row == {"id": 1, "at": datetime(2026, 1, 31)}


def test_all_files_of_a_source_become_one_commit(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines(1, 2))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(lines(3)))
    record = ended(ingests, of_source(tmp_path, "*"))
    assert record.state is IngestState.COMMITTED
    assert ids(ingests) == [1, 2, 3]
    [commit] = record.commits
    assert [(target.column_ids, target.record_count) for target in commit.targets] == [((1, 6), 3)]
    assert len(ingests.commits.rounds) == 1


def test_of_a_source_the_columns_are_those_of_all_its_records(ingests: FakeIngests, tmp_path: Path) -> None:
    ingests.tables.put(with_columns(ID, NOTE, AT))
    (tmp_path / "a.json").write_bytes(lines(1, 2))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b'{"id":3,"note":null}'))
    record = ended(ingests, of_source(tmp_path, "*", INFERRED))
    [commit] = record.commits
    [target] = commit.targets
    assert (target.column_ids, target.record_count) == ((ID.field_id, NOTE.field_id), 3)
    assert ids(ingests) == [1, 2, 3]


def test_every_part_of_a_large_file_counts_for_its_columns(ingests: FakeIngests, tmp_path: Path) -> None:
    ingests.tables.put(with_columns(ID, NOTE, AT))
    (tmp_path / "a.json").write_bytes(lines(*range(1000)) + b'{"id":1000,"note":"last"}\n')
    [commit] = ended(ingests, of_source(tmp_path, "a.json", INFERRED)).commits
    assert {target.column_ids for target in commit.targets} == {(ID.field_id, NOTE.field_id)}
    assert ids(ingests) == list(range(1001))
    assert len(ingests.executors.jobs) == 2


def test_the_files_whose_columns_were_inferred_are_those_that_are_written(
    ingests: FakeIngests, tmp_path: Path
) -> None:
    ingests.tables.put(with_columns(ID, NOTE, AT))
    (tmp_path / "a.json").write_bytes(lines(1))
    ingests.executors.meanwhile = lambda: (tmp_path / "b.json").write_bytes(b'{"id":2,"note":"late"}')
    ended(ingests, of_source(tmp_path, "*", INFERRED))
    assert ids(ingests) == [1]
    ingests.executors.meanwhile = lambda: (tmp_path / "b.json").write_bytes(lines(3, 4))
    with pytest.raises(SourceChanged):
        ingests.accept(of_source(tmp_path, "*", INFERRED), "ann", FULL_ACCESS)


def test_a_source_is_not_read_for_a_table_that_is_not_there(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines(1))
    nowhere = replace(INFERRED, key=TableKey(TableName("lake", "logs", "nowhere")))
    with pytest.raises(TableNotFound):
        ingests.accept(of_source(tmp_path, "*", nowhere), "ann", FULL_ACCESS)
    assert ingests.executors.jobs == []


def test_a_file_that_has_no_columns_to_infer_is_refused_and_leaves_nothing(
    ingests: FakeIngests, tmp_path: Path
) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(lines(1))[:-9])
    with pytest.raises(IngestInvalid, match=r"a\.json\.gz: "):
        ingests.accept(of_source(tmp_path, "*", INFERRED), "ann", FULL_ACCESS)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"nobody":1}\n'))
    with pytest.raises(WriteSchemaInvalid, match="nobody"):
        ingests.accept(of_source(tmp_path, "*", INFERRED), "ann", FULL_ACCESS)
    assert not ingests.files.files


def test_large_files_are_read_in_parts_and_every_line_once(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines(*range(1000)))
    ended(ingests, of_source(tmp_path, "a.json"))
    assert ids(ingests) == list(range(1000))
    # Each task reads many parts, so there are few files.
    assert ingests.executors.jobs == [2]
    assert len(ingests.files.files) == 2


def test_a_bad_record_in_any_part_leaves_no_file(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines(*range(1000), "x"))
    with pytest.raises(RecordsInvalid, match="1 of 1001 records") as refused:
        ended(ingests, of_source(tmp_path, "a.json"))
    assert not ingests.files.files
    [reported] = refused.value.violations
    assert "a.json, lines after byte" in getattr(reported, "place")  # noqa: B009


def test_bad_records_become_dead_letters(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines(1, "x"))
    record = ended(ingests, of_source(tmp_path, "a.json", on_error=OnError.DEAD_LETTER))
    assert record.rejected.count == 1
    names = {str(commit.key.table): sum(t.record_count for t in commit.targets) for commit in record.commits}
    assert names == {"lake.logs.events": 1, "lake.logs.events__dead_letter": 1}
    [dead_letter] = [row for rows in ingests.files.files.values() for row in rows if "payload" in row]
    assert dead_letter["position"] == f"{tmp_path.as_uri()}/a.json, line 2"


def test_of_a_job_that_fails_nothing_is_committed(ingests: FakeIngests, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.json").write_bytes(lines(number))
    ingests.executors.fails_after = 1
    with pytest.raises(ExecutorsFailed):
        ended(ingests, of_source(tmp_path, "*.json"))
    # No result has the files of the failed job: they are orphans, which are in no table.
    assert ids(ingests) == list(range(10))
    assert not ingests.commits.rounds


def test_without_records_there_is_nothing_to_write(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\n")
    with pytest.raises(IngestInvalid, match="no records"):
        ended(ingests, of_source(tmp_path, "a.json"))


def test_a_broken_file_is_named(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(lines(*range(5000)))[:-9])
    with pytest.raises(IngestInvalid, match=r"a\.json\.gz"):
        ended(ingests, of_source(tmp_path, "a.json.gz"))
    assert not ingests.files.files


def test_a_file_that_changes_while_it_is_read_is_written_nowhere(
    ingests: FakeIngests, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes(lines(1))
    found = ingests.sources.files((tmp_path / "a.json").as_uri())
    (tmp_path / "a.json").write_bytes(lines(1, 2))
    ingests.sources.files = lambda uri, is_canceled=never: found  # type: ignore[method-assign]  # noqa: ARG005
    with pytest.raises(SourceChanged, match=r"a\.json was changed"):
        ended(ingests, of_source(tmp_path, "a.json"))
    assert not ingests.files.files


def test_a_large_body_goes_to_executors_and_a_small_one_does_not(ingests: FakeIngests) -> None:
    def sent(*numbers: int) -> IngestRequest:
        data = lines(*numbers)
        body = StreamedRecords(lambda: io.BytesIO(data), RecordFormat.NDJSON)
        return IngestRequest((WRITE,), "f", shared=body)

    ended(ingests, sent(*range(10)))
    assert not ingests.executors.jobs
    ended(ingests, sent(*range(10, 1000)))
    assert ids(ingests) == list(range(1000))
    assert ingests.executors.jobs == [2]


def test_lines_of_a_large_body_are_reported_by_their_number(ingests: FakeIngests) -> None:
    data = lines(*range(997), "x", 998)
    body = StreamedRecords(lambda: io.BytesIO(data), RecordFormat.NDJSON)
    with pytest.raises(RecordsInvalid) as refused:
        ended(ingests, IngestRequest((WRITE,), "f", shared=body))
    assert [getattr(violation, "line") for violation in refused.value.violations] == [998]  # noqa: B009


def test_a_micro_batch_is_written_once_and_not_where_it_is_already(ingests: FakeIngests) -> None:
    route = Route("note", {"a": 0}, otherwise=1)
    writes = (WRITE, Write(OTHER.key, (), ColumnNames(("id", "note"))))
    batch = FakeMicroBatch(uuid4(), 0, b'{"id":1,"note":"a"}', b'{"id":2,"note":"b"}', b'{"id":3,"note":"a"}')
    shared = MicroBatchRecords(batch, frozenset({TABLE.key}))
    record = ended(ingests, IngestRequest(writes, "f", route=route, executed=shared))
    assert [commit.key for commit in record.commits] == [OTHER.key]
    assert ids(ingests) == [2]


def test_files_of_a_micro_batch_are_read_as_those_of_a_source(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,note\n1,a\n2,b\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"note,id\na,3\n"))
    (tmp_path / "not-of-this-batch.csv").write_bytes(b"id\n4\n")
    batch = FakeMicroBatch(
        uuid4(), 0, files=[f"{tmp_path.as_uri()}/{name}" for name in ("a.csv", "b.csv.gz")]
    )
    records = SourceRecords(tmp_path.as_uri(), RecordFormat.CSV)

    def found(names: Sequence[str]) -> FoundFiles:
        return FoundFiles([file for name in names for file in ingests.sources.files(name)])

    route = Route("note", {"a": 0}, otherwise=1)
    writes = (WRITE, Write(OTHER.key, (), ColumnNames(("id", "note"))))
    executed = MicroBatchFiles(batch, records, found, frozenset({OTHER.key}))
    record = ended(ingests, IngestRequest(writes, "f", route=route, executed=executed))
    assert [commit.key for commit in record.commits] == [TABLE.key]
    assert ids(ingests) == [1, 3]


@pytest.mark.parametrize("on_error", list(OnError))
@pytest.mark.parametrize("is_source", [True, False])
def test_csv_that_breaks_off_within_quotes_is_refused_as_a_whole(
    ingests: FakeIngests, tmp_path: Path, on_error: OnError, is_source: bool
) -> None:
    # The body is cut into parts, and the last one is incomplete.
    body = b"id,note\n" + b'1,"x\ny"\n' * 1000 + b'2,"z\n3,x\n'
    (tmp_path / "a.csv").write_bytes(body)
    request = IngestRequest((WRITE,), "f", on_error=on_error)
    if is_source:
        source = SourceRecords((tmp_path / "a.csv").as_uri(), RecordFormat.CSV)
        request = replace(request, executed=source)
    else:
        request = replace(request, shared=StreamedRecords(lambda: io.BytesIO(body), RecordFormat.CSV))
    with pytest.raises(IngestInvalid, match="opens on line 2002 is never closed") as refused:
        ingests.accept(request, "ann", FULL_ACCESS)
    assert type(refused.value) is IngestInvalid
    assert ids(ingests) == []


def test_a_micro_batch_may_be_empty(ingests: FakeIngests) -> None:
    batch = FakeMicroBatch(uuid4(), 0)
    records = SourceRecords("file:///in", RecordFormat.NDJSON)
    executed = MicroBatchFiles(batch, records, lambda _: FoundFiles())
    record = ended(ingests, IngestRequest((WRITE,), "f", stream_batch="1/0", executed=executed))
    assert not record.commits


def test_a_line_end_within_a_message_changes_no_value(ingests: FakeIngests) -> None:
    batch = FakeMicroBatch(uuid4(), 0, b'{\n "id": 1 }', b'{"id": 2, "note": "a\nb"}')
    request = IngestRequest((WRITE,), "f", on_error=OnError.DEAD_LETTER, executed=MicroBatchRecords(batch))
    assert ended(ingests, request).rejected.count == 1
    assert {row["id"] for rows in ingests.files.files.values() for row in rows if "id" in row} == {1}


@pytest.mark.parametrize("length", [1024, 5000])
@pytest.mark.parametrize("way", ["body", "source", "messages"])
def test_a_line_may_be_just_as_long_as_was_said(tmp_path: Path, way: str, length: int) -> None:
    line = lines(7).strip().ljust(length - 1) + b" "
    (tmp_path / "a.json").write_bytes(lines(1) + line + b"\n" + lines(2))

    def sent() -> IngestRequest:
        match way:
            case "body":
                body = StreamedRecords(lambda: (tmp_path / "a.json").open("rb"), RecordFormat.NDJSON)
                return IngestRequest((WRITE,), "f", shared=body)
            case "source":
                return of_source(tmp_path, "a.json")
            case _:
                batch = FakeMicroBatch(uuid4(), 0, lines(1).strip(), line, lines(2).strip())
                return IngestRequest((WRITE,), "f", executed=MicroBatchRecords(batch))

    def taken(most: int) -> list[int]:
        bounds = ReadBounds(line_bytes=most)
        made = FakeIngests(TABLE, sources_folder=tmp_path, reading=bounds)
        try:
            ended(made, sent())
            return ids(made)
        finally:
            made.close(WITHIN_S)

    assert taken(length) == [1, 2, 7]
    with pytest.raises(IngestInvalid, match=f"longer than {length - 1} bytes.*SLUICE_INGEST_MAX_LINE_BYTES"):
        taken(length - 1)


def test_what_travels_to_executors_is_picklable(ingests: FakeIngests, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines(1))
    tasks: list[SplitTask] = []
    readers: list[SplitReader] = []
    ran = ingests.executors.map

    def recorded(function: Any, items: object, tag: str) -> object:
        tasks.append(function.func.__self__)
        readers.extend(function.args)
        return ran(function, items, tag)  # type: ignore[arg-type]

    ingests.executors.map = recorded  # type: ignore[method-assign,assignment]
    ended(ingests, of_source(tmp_path, "a.json", on_error=OnError.DEAD_LETTER))
    task = replace(tasks[0], data_files=ParquetDataFiles(WriteBounds()))
    assert pickle.loads(pickle.dumps(task)).destinations == task.destinations
    assert pickle.loads(pickle.dumps(readers)) == readers
