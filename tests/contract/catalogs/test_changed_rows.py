"""Requests of upserts, deletes and events, from their bytes to their files, compared with a plain model.

The model applies every record to a list of rows, one by one. The commit of a round is played here as Iceberg
defines it: equality deletes apply to the rows of earlier snapshots. `tests/integration` commits with Iceberg.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.commits.superseding.without_superseded import without_superseded
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.read_back.uncommitted_rows import ParquetWrittenRows
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import not_synced
from service.adapters.sources.find import FoundSources
from service.adapters.sources.open import SplitsOfStorage
from service.adapters.sources.storage import SourceAccess
from service.adapters.staging.staged_bodies import StagedBodies
from service.adapters.staging.task_spools import TaskSpools
from service.ingest.committing.rewriting import Rewriting
from service.ingest.dead_letters.dead_letters import FIELDS
from service.ingest.distributed.large_parts import LargeBounds, LargeInputs
from service.ingest.run_ingest import IngestPorts, run_ingest
from service.model.ingest.commit_rounds import PendingRound
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.ingest_request import ColumnNames, IngestRequest, StreamedRecords, Write
from service.model.ingest.record_deletes import DeleteWhen, Envelope
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceBounds
from service.model.ingest.writing import CommitResult, TableKey, WriteResult
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName
from tests.fakes.clock import FakeClock
from tests.fakes.dead_letter_tables import FakeDeadLetterTables
from tests.fakes.executors import FakeExecutors
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.spools import FakeSpools
from tests.fakes.table_changes import FakeTableChanges
from tests.fakes.writable_tables import FakeWritableTables

NAMES = ("id", "part", "note")
OP = "__op"
WHEN = DeleteWhen(OP, frozenset({"D", "true"}))
KINDS = ("append", "upsert", "delete", "deleteWhen", "debezium")
Row = tuple[Any, ...]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One record: a row, or a key that is deleted. `moved_from` is the row before it, of an event."""

    row: Row
    is_delete: bool = False
    moved_from: Row | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The records of one write, and how they are sent."""

    kind: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """Writes with records of their own; or one write whose records are a stream, perhaps for executors."""

    writes: tuple[Sent, ...]
    form: RecordFormat | None = None
    is_large: bool = False


class Lake:
    """A table, its accepted ingests, and its rows as a reader would find them."""

    def __init__(self, folder: Path, catalog: SqlCatalog, properties: dict[str, str], keys: tuple[str, ...]):
        self.keys = keys
        self.rows: list[Row] = []
        self.key = TableKey(TableName("lake", "game", f"t_{uuid4().hex}"))
        schema = Schema(
            NestedField(1, "id", LongType()),
            NestedField(2, "part", IntegerType()),
            # Rows that are deleted need no values of required columns.
            NestedField(3, "note", StringType(), required=True),
        )
        self.table = catalog.create_table(f"game.{self.key.table.table}", schema)
        if len(keys) > 1:
            with self.table.update_spec() as change:
                change.add_field("part", IdentityTransform(), "part")
        self.catalogs = PyIcebergCatalogs({"lake": {"type": "sql", **properties}}, FakeClock())
        self.tables = PyIcebergWritableTables(self.catalogs)
        self.files = ParquetDataFiles(WriteBounds(), not_synced)
        self.log = FakeIngestLog()
        access = SourceAccess((folder.as_uri(),))
        self.ports = IngestPorts(
            tables=self.tables,
            data_files=self.files,
            dead_letters=FakeDeadLetterTables(TableSchema(0, FIELDS)),
            log=self.log,
            clock=FakeClock(),
            changes=FakeTableChanges(FakeWritableTables()),
            spools=FakeSpools(),
        )
        self.large = LargeInputs(
            executors=FakeExecutors(),
            sources=FoundSources(access, SourceBounds()),
            open_split=SplitsOfStorage(access),
            bodies=StagedBodies(sees_disk=False),
            spools=TaskSpools(),
            bounds=LargeBounds(split_bytes=64, body_bytes=0),
        )

    def send(self, request: Request) -> IngestRecord:
        ports = replace(self.ports, large=self.large) if request.is_large else self.ports
        sent = [self._write(write) for write in request.writes]
        writes = tuple(write for write, _ in sent)
        if request.form is None:
            pairs = zip(writes, (records for _, records in sent), strict=True)
            asked = IngestRequest(tuple(replace(write, records=records) for write, records in pairs), "")
        else:
            body = _body(request.form, sent[0][1])
            asked = IngestRequest(writes, "", shared=StreamedRecords(partial(io.BytesIO, body), request.form))
        return run_ingest(asked, "ann", ports)

    def commit(self) -> None:
        """Commits everything that waits, as one snapshot for each state of the table."""
        rewriting = Rewriting(self.tables, ParquetWrittenRows(), self.files)
        while True:
            with self.log.round(self.key, 1000) as pending:
                if pending is None:
                    return
                self._commit(pending, rewriting)

    def _commit(self, pending: PendingRound, rewriting: Rewriting) -> None:
        revisions = rewriting.revisions(self.key, pending.parts)
        if revisions:
            assert [revision.refusal for revision in revisions if revision.refusal] == []
            revised = pending.revise(revisions, "TABLE_CHANGED").pending
            assert revised is not None
            pending = revised
        joined = without_superseded(self.table.refresh(), pending.committable, not_synced)
        results = joined.committable.write_results
        gone = {key for result in results for key in self._deleted(result)}
        self.rows = [row for row in self.rows if self._key(row) not in gone]
        self.rows += [row for result in results for row in _read(result.data_files)]
        pending.committed(CommitResult(self.key, 1, 0, 0, 0))

    def evolve(self) -> None:
        with self.table.refresh().update_schema() as change:
            change.add_column(f"c{uuid4().hex}", StringType())

    def _deleted(self, result: WriteResult) -> Iterator[Row]:
        for file in result.delete_files:
            assert json.loads(file)["equality-ids"] == list(range(1, len(self.keys) + 1))
        return (row[: len(self.keys)] for row in _read(result.delete_files))

    def _key(self, row: Row) -> Row:
        return row[: len(self.keys)]

    def _write(self, sent: Sent) -> tuple[Write, list[Record]]:
        write = Write(self.key, (), ColumnNames(NAMES), is_upsert=True, equality_fields=self.keys)
        match sent.kind:
            case "append":
                write = replace(write, is_upsert=False, equality_fields=None)
            case "delete":
                write = replace(write, write_schema=None, is_delete=True)
            case "deleteWhen":
                write = replace(write, delete_when=WHEN)
            case "debezium":
                write = replace(write, envelope=Envelope.DEBEZIUM)
        return write, [self._record(sent.kind, change) for change in sent.changes]

    def _record(self, kind: str, change: Change) -> Record:
        row = dict(zip(NAMES, change.row, strict=True))
        match kind:
            case "delete":
                return {name: row[name] for name in self.keys}
            case "deleteWhen":
                return {**row, "note": None, OP: "D"} if change.is_delete else {**row, OP: "U"}
            case "debezium" if change.is_delete:
                return {"payload": {"op": "d", "before": {**row, "note": None}, "after": None}, "schema": {}}
            case "debezium":
                before = change.moved_from and dict(zip(NAMES, change.moved_from, strict=True))
                return {"op": "c" if before is None else "u", "before": before, "after": row}
            case _:
                return row


class Model:
    """The rows after every record, applied one by one."""

    def __init__(self, key_count: int) -> None:
        self.rows: list[Row] = []
        self._key_count = key_count

    def send(self, request: Request) -> None:
        for write in request.writes:
            for change in write.changes:
                self._apply(write.kind, change)

    def _apply(self, kind: str, change: Change) -> None:
        if kind != "append":
            gone = {row[: self._key_count] for row in (change.row, change.moved_from) if row is not None}
            self.rows = [row for row in self.rows if row[: self._key_count] not in gone]
        if not change.is_delete:
            self.rows.append(change.row)


def _read(files: Sequence[str]) -> Iterator[Row]:
    for location in locations_of(files):
        found = pq.read_table(location.removeprefix("file://"), partitioning=None)
        names = [name for name in NAMES if name in found.column_names]
        for row in found.select(names).to_pylist():
            yield tuple(row.values())


def _body(form: RecordFormat, records: list[Record]) -> bytes:
    match form:
        case RecordFormat.NDJSON:
            return b"\n".join(json.dumps(record).encode() for record in records)
        case RecordFormat.CSV:
            names = list(records[0])
            lines = [[json.dumps(record[name]) for name in names] for record in records]
            spelled = [",".join("" if text == "null" else text for text in line) for line in lines]
            return "".join(f"{line}\n" for line in (",".join(names), *spelled)).encode()
        case _:
            kinds = {"id": pa.int64(), "part": pa.int32(), "note": pa.string(), OP: pa.string()}
            schema = pa.schema([(name, kinds[name]) for name in records[0]])
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, schema) as stream:
                stream.write_table(pa.Table.from_pylist(records, schema), 3)
            return sink.getvalue()


@some.composite
def a_change(draw: some.DrawFn, kind: str) -> Change:
    key = some.tuples(some.sampled_from([None, 1, 2, 3]), some.sampled_from([None, 7, 8]))
    note = draw(some.uuids()).hex[:8]
    is_delete = kind == "delete" or (kind in ("deleteWhen", "debezium") and draw(some.booleans()))
    before = None
    if kind == "debezium" and not is_delete and draw(some.booleans()):
        before = (*draw(key), "before")
    return Change((*draw(key), note), is_delete, before)


@some.composite
def a_write(draw: some.DrawFn, kinds: Sequence[str] = KINDS) -> Sent:
    kind = draw(some.sampled_from(kinds))
    return Sent(kind, tuple(draw(some.lists(a_change(kind), min_size=1, max_size=6))))


@some.composite
def a_request(draw: some.DrawFn) -> Request:
    form = draw(some.sampled_from([None, RecordFormat.NDJSON, RecordFormat.CSV, RecordFormat.ARROW_STREAM]))
    if form is None:
        return Request(tuple(draw(some.lists(a_write(), min_size=1, max_size=3))))
    kinds = KINDS if form is RecordFormat.NDJSON else KINDS[:-1]
    return Request((draw(a_write(kinds)),), form, is_large=draw(some.booleans()))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SqlCatalog, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("changes")
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": folder.as_uri()}
    with closing(SqlCatalog("lake", **properties)) as catalog:
        catalog.create_namespace("game")
        yield folder, catalog, properties


# Each example makes a table: finding a smaller one that fails takes minutes.
@settings(
    phases=[Phase.reuse, Phase.generate],
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=some.data())
def test_rows_are_those_of_the_records_applied_one_by_one(
    place: tuple[Path, SqlCatalog, dict[str, str]], data: some.DataObject
) -> None:
    keys = data.draw(some.sampled_from([("id",), ("id", "part")]))
    lake, model = Lake(*place, keys), Model(len(keys))
    with closing(lake.catalogs):
        for rounds in data.draw(some.lists(some.lists(a_request(), min_size=1, max_size=4), max_size=3)):
            for request in rounds:
                lake.send(request)
                model.send(request)
            if data.draw(some.booleans()):
                # Its files are written again before they are committed.
                lake.evolve()
            lake.commit()
            assert sorted(lake.rows, key=repr) == sorted(model.rows, key=repr)
