"""Upserts through the ingest log into real tables, with snapshots made by a real Spark."""

from __future__ import annotations

import gc
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform, TruncateTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FixedType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.unavailable import EngineNotReady
from service.ingest.committing.commit_round import commit_round
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.ingest.decoding.values.variant_values import variant_value
from service.model.ingest.ingest import IngestCommit, IngestRecord, IngestState
from service.model.ingest.record_deletes import DELETE_MARK
from service.model.ingest.writing import (
    CommitResult,
    Committable,
    RowDelta,
    TableKey,
    WriteResult,
    WriteTarget,
)
from service.model.operations.maintenance import CompactionWidth
from service.model.tables.tables import TableName
from service.ports.tables.stored_orders import StoredOrders, StoredOrdersQuery
from service.ports.tables.table_changes import always_open
from spark_session.engine.engine import SparkEngine
from spark_session.engine.row_deltas import SparkRowDeltas
from spark_session.engine.stored_orders import SparkStoredOrders
from spark_session.engine.table_maintenance import SparkTableMaintenance
from spark_session.engine.vector_writer import SparkVectorWriter
from spark_session.settings.settings import SparkSettings
from spark_session.table_sql_name import table_sql_name
from tests.contract.catalogs.conftest import Postgres
from tests.contract.catalogs.plain_data_files import target_of
from tests.engine_jars import engine_jars
from tests.fakes.ingests import ACCEPTED_AT
from tests.fakes.stored_orders import FakeStoredOrders
from tests.integration.ingest.lakehouse import WITHIN_S, IngestLakehouse, data_files
from tests.integration.rest_catalog.forgetful import ForgetfulProxy, forgetful_proxy
from tests.integration.rest_catalog.jars import rest_catalog_class_path
from tests.integration.rest_catalog.server import rest_catalog_server

pytestmark = pytest.mark.integration
PACKAGES = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "org.postgresql:postgresql:42.7.8",
)
Row = tuple[int, int | None, str | None]
SLEEP_S = 10


class UpsertLakehouse(IngestLakehouse):
    """The ingest lakehouse, with an engine that shares its catalog."""

    engine: SparkEngine

    def written(
        self,
        rows: Sequence[Row],
        keys: tuple[int, ...] = (1,),
        branch: str = "main",
        columns: tuple[int, ...] | None = None,
        order: int | None = None,
        deletes: Sequence[bool] | None = None,
    ) -> WriteResult:
        """Writes the files of an upsert, or of an append if there are no keys."""
        table = self.table()
        key = TableKey(self.key.table, branch)
        target = target_of(table, key, columns)
        target = replace(target, is_upsert=bool(keys), equality_field_ids=keys, order_field_id=order)
        values = list(zip(*rows, strict=True))
        arrays = {
            1: pa.array(values[0], pa.int64()),
            2: pa.array(values[1], pa.int32()),
            3: pa.array(values[2], pa.string()),
        }
        names = {1: "id", 2: "day", 3: "note"}
        found = {names[column]: arrays[column] for column in columns or (1, 2, 3)}
        if deletes is not None:
            found[DELETE_MARK] = pa.array(deletes)
        batch = pa.record_batch(found)
        return write_data_files(writer_state(table), target, [batch], WriteBounds())

    def upsert(self, *rows: Row, keys: tuple[int, ...] = (1,)) -> IngestRecord:
        return self.accept_result(self.written(rows, keys))

    def append(self, *rows: Row) -> IngestRecord:
        return self.accept_result(self.written(rows, ()))

    def rows(self, version: str = "") -> list[Any]:
        """Returns the rows that Spark finds now."""
        return self.read(self.key, "id, day, note", version)

    def read(self, key: TableKey, columns: str, version: str = "") -> list[Any]:
        """Returns these columns of any table as Spark reads them, sorted."""
        assert self.engine.session is not None
        with self.engine.session.children.taken(None, None, "test") as child:
            name = table_sql_name(key.table)
            found = child.sql(f"SELECT {columns} FROM {name} {version} ORDER BY {columns}").collect()
        return [tuple(row) for row in found]

    def change(self, sql: str) -> None:
        """Runs this on Spark, with the table's name in place of the braces."""
        assert self.engine.session is not None
        with self.engine.session.children.taken(None, None, "test") as child:
            child.sql(sql.format(table_sql_name(self.key.table))).collect()

    def create(self, name: str, schema: Schema, spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC) -> Table:
        """Creates another table in the same schema."""
        return self._outside.create_table(("game", name), schema, partition_spec=spec)


@dataclass(frozen=True, slots=True)
class Shared:
    """Two catalogs, by their addresses, and an engine on both. The second is reached through a `proxy`."""

    server: Postgres
    catalogs: Mapping[str, str]
    warehouse: str
    proxy: ForgetfulProxy
    engine: SparkEngine

    @contextmanager
    def lakehouse(self, catalog: str) -> Iterator[UpsertLakehouse]:
        """Makes a lakehouse with a table and a log of its own."""
        log_url = self.server.url_of_migrated_database()
        with ExitStack() as stack:
            url, table = self.catalogs[catalog], f"logs_{uuid4().hex}"
            made = UpsertLakehouse(log_url, url, self.warehouse, table, stack, catalog)
            made.engine = self.engine
            made.row_deltas = SparkRowDeltas(lambda: self.engine.session)
            made.stored_orders = SparkStoredOrders(self.engine, WITHIN_S)
            made.vector_writer = SparkVectorWriter(self.engine, WITHIN_S)
            yield made


@pytest.fixture(scope="module")
def shared(server: Postgres) -> Iterator[Shared]:
    folder = Path(tempfile.mkdtemp(prefix="sluice-upserts-"))
    catalog_url, warehouse = server.url_of_new_database(), f"file://{folder / 'warehouse'}"
    with ExitStack() as stack:
        class_path = rest_catalog_class_path(folder / "rest-jars")
        rest = stack.enter_context(rest_catalog_server(class_path, folder / "rest"))
        proxy = stack.enter_context(forgetful_proxy(rest.uri))
        properties = spark_catalog_properties(
            "lake", {"type": "sql", "uri": catalog_url, "warehouse": warehouse}
        ) | spark_catalog_properties("rest", {"type": "rest", "uri": rest.uri})
        jars = engine_jars(PACKAGES)
        settings = SparkSettings("local[2]", jars, folder, properties, ("lake", "rest"), "lake", "1g")
        engine = SparkEngine(settings)
        engine.start()
        catalogs = {"lake": catalog_url, "rest": proxy.uri}
        yield Shared(server, catalogs, warehouse, proxy, engine)
        engine.close()
        del engine
        gc.collect()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def lakehouse(request: pytest.FixtureRequest, shared: Shared) -> Iterator[UpsertLakehouse]:
    """A lakehouse in the SQL catalog, unless the test names another one. With a `3`, that is the version."""
    name = getattr(request, "param", "lake")
    with shared.lakehouse(name.removesuffix("3")) as made:
        if name.endswith("3"):
            made.change("ALTER TABLE {} SET TBLPROPERTIES ('format-version'='3')")
        yield made


in_both_catalogs = pytest.mark.parametrize("lakehouse", ["lake", "rest"], indirect=True)
of_version_3 = pytest.mark.parametrize("lakehouse", ["lake3", "rest3"], indirect=True)
over_rest = pytest.mark.parametrize("lakehouse", ["rest"], indirect=True)
in_both_widths = pytest.mark.parametrize("width", list(CompactionWidth))


@in_both_catalogs
def test_upserts_and_appends_take_effect_in_the_order_in_which_they_came(
    lakehouse: UpsertLakehouse,
) -> None:
    records = [
        lakehouse.upsert((1, 1, "a"), (2, 1, "b")),
        lakehouse.append((1, 1, "appended"), (3, 1, "c")),
        lakehouse.append((4, 1, "d")),
        lakehouse.upsert((1, 1, "last"), (4, None, None)),
        lakehouse.append((4, 2, "again")),
    ]
    lakehouse.commit_all(*records)
    assert lakehouse.rows() == [
        (1, 1, "last"),
        (2, 1, "b"),
        (3, 1, "c"),
        (4, None, None),
        (4, 2, "again"),
    ]
    assert lakehouse.snapshot_count() == 1
    more = [
        lakehouse.upsert((3, 1, "replaced")),
        lakehouse.append((9, 1, "e")),
        lakehouse.upsert((3, 2, "f")),
    ]
    lakehouse.commit_all(*more)
    assert lakehouse.rows()[2:] == [(3, 2, "f"), (4, None, None), (4, 2, "again"), (9, 1, "e")]
    summaries = [snapshot.summary for snapshot in lakehouse.table().metadata.snapshots]
    # The first round finds no row to replace, so every reader can read its snapshot.
    assert [summary and summary["added-equality-deletes"] for summary in summaries] == [None, "2"]
    # Files of rows that were replaced before anybody saw them are removed.
    assert data_files(lakehouse.table()) == live_files(lakehouse.table())
    found = [lakehouse.record(record).commits[0].snapshot_id for record in (*records, *more)]
    ids = [snapshot.snapshot_id for snapshot in lakehouse.table().metadata.snapshots]
    assert found == [ids[0]] * len(records) + [ids[1]] * len(more)


def live_files(table: Table) -> set[Path]:
    """Returns all files of the newest snapshot, including delete files."""
    head = table.current_snapshot()
    assert head is not None
    return files_of(table, head)


def all_files(table: Table) -> set[Path]:
    """Returns the files of all snapshots."""
    return {path for snapshot in table.metadata.snapshots for path in files_of(table, snapshot)}


def files_of(table: Table, snapshot: Snapshot) -> set[Path]:
    return {
        Path(entry.data_file.file_path.removeprefix("file:").removeprefix("//"))
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
    }


def test_what_has_no_value_is_replaced_as_well(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(
        lakehouse.append((1, None, "a"), (2, 5, "b"), (3, None, None)),
        lakehouse.upsert((4, None, "x"), (5, 5, "y"), keys=(2,)),
    )
    assert lakehouse.rows() == [(4, None, "x"), (5, 5, "y")]


KEYS: tuple[tuple[IcebergType, pa.DataType, list[object]], ...] = (
    (BooleanType(), pa.bool_(), [True, False]),
    (IntegerType(), pa.int32(), [-7, 7]),
    (LongType(), pa.int64(), [-(2**63), 2**40]),
    (DecimalType(9, 2), pa.decimal128(9, 2), [Decimal("-1.50"), Decimal("1.05")]),
    (DecimalType(38, 10), pa.decimal128(38, 10), [Decimal(-1), Decimal(10**27)]),
    (DateType(), pa.date32(), [date(1, 1, 1), date(2026, 1, 1)]),
    (TimestampType(), pa.timestamp("us"), [datetime(1900, 1, 1), datetime(2026, 1, 1, 0, 0, 0, 1)]),
    (
        TimestamptzType(),
        pa.timestamp("us", "UTC"),
        [datetime(1900, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)],
    ),
    (StringType(), pa.string(), ["", "é😀 and a text that is longer than sixteen letters"]),
    (UUIDType(), pa.binary(16), [UUID(int=1).bytes, UUID(int=2**127 + 1).bytes]),
    (FixedType(3), pa.binary(3), [b"\x00\xff\x10", b"abc"]),
    (BinaryType(), pa.binary(), [b"", b"\xff\x00"]),
)


@pytest.mark.parametrize(("kind", "arrow", "values"), KEYS, ids=[str(key[0]) for key in KEYS])
def test_keys_of_every_type_replace_the_rows_that_have_them_and_no_others(
    lakehouse: UpsertLakehouse, kind: IcebergType, arrow: pa.DataType, values: list[object]
) -> None:
    name = f"keys_{uuid4().hex}"
    schema = Schema(NestedField(1, "n", LongType()), NestedField(2, "key", kind))
    table = lakehouse.create(name, schema)
    key = TableKey(TableName("lake", "game", name))
    first, second = values

    def commit(keys: Sequence[object], numbers: Sequence[int], equality_ids: tuple[int, ...]) -> None:
        target = replace(
            target_of(table, key, None), is_upsert=bool(equality_ids), equality_field_ids=equality_ids
        )
        rows = pa.record_batch({"n": pa.array(numbers, pa.int64()), "key": pa.array(keys, arrow)})
        result = write_data_files(writer_state(table), target, [rows], WriteBounds())
        lakehouse.new_commits().commit(Committable(key, uuid4(), (uuid4(),), (result,)))

    commit([first, second, None, first], [1, 2, 3, 4], ())
    commit([first], [5], (2,))
    assert lakehouse.read(key, "n") == [(2,), (3,), (5,)]
    commit([None, second], [6, 7], (2,))
    assert lakehouse.read(key, "n") == [(5,), (6,), (7,)]
    assert [row[0] for row in lakehouse.read(key, "n, key")] == [5, 6, 7]
    assert len(lakehouse.read(key, "key")) == 3


@in_both_catalogs
def test_rows_are_replaced_in_partitions(lakehouse: UpsertLakehouse) -> None:
    with lakehouse.table().update_spec() as spec:
        spec.add_field("day", IdentityTransform(), "day")
    lakehouse.commit_all(
        lakehouse.append(*((n, n % 3, "old") for n in range(9)), (9, None, "old")),
        lakehouse.upsert((0, 0, "new"), (4, 1, "new"), (5, 0, "other key"), (9, None, "new"), keys=(1, 2)),
    )
    found = {(row[0], row[1]): row[2] for row in lakehouse.rows()}
    assert {key for key, note in found.items() if note == "new"} == {(0, 0), (4, 1), (9, None)}
    assert (found[5, 2], found[5, 0], len(found)) == ("old", "other key", 11)


@in_both_catalogs
def test_a_branch_that_an_upsert_begins_starts_with_what_main_has(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "a"), (2, 1, "b")))
    result = lakehouse.written([(1, 1, "branched")], branch="audit")
    log, commits = lakehouse.log, lakehouse.new_commits()
    key = TableKey(lakehouse.key.table, "audit")
    committed = commits.commit(Committable(key, uuid4(), (uuid4(),), (result,)))
    assert not committed.is_repeated
    assert lakehouse.rows("VERSION AS OF 'audit'") == [(1, 1, "branched"), (2, 1, "b")]
    assert lakehouse.rows() == [(1, 1, "a"), (2, 1, "b")]
    assert list(log.waiting().keys) == []


class DiesAfterTheSnapshot(PyIcebergTableCommits):
    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        super().commit(committable, is_open)
        raise KeyboardInterrupt


class DiesBeforeTheSnapshot(PyIcebergTableCommits):
    def _publish(self, append: SnapshotAppend) -> None:  # noqa: ARG002
        raise KeyboardInterrupt


@pytest.mark.parametrize("kind", [DiesBeforeTheSnapshot, DiesAfterTheSnapshot])
@in_both_catalogs
def test_an_upsert_that_was_interrupted_is_committed_once(
    lakehouse: UpsertLakehouse, kind: type[PyIcebergTableCommits]
) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 1, "old")))
    record = lakehouse.upsert((1, 1, "new"))
    with pytest.raises(KeyboardInterrupt):
        commit_round(lakehouse.key, lakehouse.log, lakehouse.new_commits(kind), 1_000)
    after = lakehouse.append((1, 1, "appended later"))
    lakehouse.commit_all(record, after)
    assert lakehouse.rows() == [(1, 1, "appended later"), (1, 1, "new"), (2, 1, "old")]
    # Later ingests are not part of the round that was begun.
    assert lakehouse.snapshot_count() == 3
    assert lakehouse.states([record, after]) == {IngestState.COMMITTED}


@pytest.mark.parametrize("lakehouse", ["lake", "lake3"], indirect=True)
@pytest.mark.parametrize("kind", [DiesBeforeTheSnapshot, DiesAfterTheSnapshot])
def test_a_round_of_several_upserts_that_was_interrupted_is_committed_once(
    lakehouse: UpsertLakehouse, kind: type[PyIcebergTableCommits]
) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 1, "old")))
    records = [
        lakehouse.append((5, 1, "appended"), (6, 1, "appended")),
        lakehouse.upsert((1, 1, "a"), (5, 1, "a")),
        lakehouse.upsert((5, 1, "b"), (7, 1, "b")),
    ]
    with pytest.raises(KeyboardInterrupt):
        commit_round(lakehouse.key, lakehouse.log, lakehouse.new_commits(kind), 1_000)
    after = lakehouse.upsert((7, 2, "later"))
    lakehouse.commit_all(*records, after)
    assert lakehouse.rows() == [
        (1, 1, "a"),
        (2, 1, "old"),
        (5, 1, "b"),
        (6, 1, "appended"),
        (7, 2, "later"),
    ]
    assert lakehouse.snapshot_count() == 3
    assert lakehouse.states([*records, after]) == {IngestState.COMMITTED}


class LosesARace(PyIcebergTableCommits):
    """Another writer commits just before, twice."""

    lakehouse: UpsertLakehouse
    left = 2

    def _publish(self, append: SnapshotAppend) -> None:
        if self.left:
            self.left -= 1
            commits = self.lakehouse.new_commits()
            result = self.lakehouse.written([(1, 1, f"theirs {self.left}")], ())
            commits.commit(Committable(self.lakehouse.key, uuid4(), (uuid4(),), (result,)))
        super()._publish(append)


@in_both_catalogs
def test_what_was_committed_in_between_is_replaced_too(lakehouse: UpsertLakehouse) -> None:
    record = lakehouse.upsert((1, 1, "mine"))
    commits = lakehouse.new_commits(LosesARace)
    assert isinstance(commits, LosesARace)
    commits.lakehouse = lakehouse
    lakehouse.start_committer(commits=commits).follow(record).result(WITHIN_S)
    assert lakehouse.rows() == [(1, 1, "mine")]
    assert lakehouse.snapshot_count() == 3
    folder = Path(lakehouse.table().location().removeprefix("file://")) / "metadata"
    # The files of both failed attempts are gone: each snapshot has one manifest list.
    assert len(list(folder.glob("snap-*.avro"))) == 3


def test_an_attempt_that_lost_a_race_leaves_no_files_of_a_round_of_several_upserts(
    lakehouse: UpsertLakehouse,
) -> None:
    records = [lakehouse.upsert((1, 1, "a"), (2, 1, "a")), lakehouse.upsert((2, 1, "b"))]
    commits = lakehouse.new_commits(LosesARace)
    assert isinstance(commits, LosesARace)
    commits.lakehouse = lakehouse
    committer = lakehouse.start_committer(commits=commits)
    for future in [committer.follow(record) for record in records]:
        future.result(WITHIN_S)
    assert lakehouse.rows() == [(1, 1, "a"), (2, 1, "b")]
    # There are two of their snapshots and one of ours. Files rewritten for the lost attempts are gone.
    assert lakehouse.snapshot_count() == 3
    assert data_files(lakehouse.table()) == live_files(lakehouse.table())


@in_both_catalogs
def test_two_replicas_upsert_the_same_keys_and_each_key_is_there_once(lakehouse: UpsertLakehouse) -> None:
    replicas = [lakehouse.start_committer() for _ in range(2)]

    def ingest(number: int) -> None:
        record = lakehouse.upsert(*((key, number, "x") for key in range(4)))
        replicas[number % 2].follow(record).result(WITHIN_S)

    with ThreadPoolExecutor(4) as clients:
        list(clients.map(ingest, range(12)))
    found = lakehouse.rows()
    assert [row[0] for row in found] == [0, 1, 2, 3]
    # All rows are from one upsert, whichever was the last.
    assert len({row[1] for row in found}) == 1
    assert lakehouse.snapshot_count() <= 12


def test_without_an_engine_an_upsert_waits_and_what_comes_after_it_too(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old")))
    record, after = lakehouse.upsert((1, 1, "a")), lakehouse.append((1, 1, "b"))
    engine, lakehouse.row_deltas = lakehouse.row_deltas, SparkRowDeltas(lambda: None)
    with pytest.raises(EngineNotReady):
        commit_round(lakehouse.key, lakehouse.log, lakehouse.new_commits(), 1_000)
    assert lakehouse.states([record, after]) == {IngestState.ACCEPTED}
    lakehouse.row_deltas = engine
    lakehouse.commit_all(record, after)
    assert lakehouse.rows() == [(1, 1, "a"), (1, 1, "b")]


@pytest.mark.parametrize("has_rows", [False, True])
def test_an_upsert_that_no_manifest_can_describe_is_refused_and_what_comes_after_it_is_committed(
    lakehouse: UpsertLakehouse, has_rows: bool
) -> None:
    """Older gateways wrote such upserts: `truncate` had left the range of the type."""
    columns = (NestedField(1, "id", LongType()), NestedField(2, "price", DecimalType(5, 2)))
    spec = PartitionSpec(PartitionField(2, 1000, TruncateTransform(100), "price_trunc"))
    name = f"prices_{uuid4().hex}"
    table = lakehouse.create(name, Schema(*columns), spec)
    key = TableKey(TableName("lake", "game", name))
    upserts = replace(target_of(table, key, None), is_upsert=True, equality_field_ids=(1, 2))
    kinds = pa.schema({"id": pa.int64(), "price": pa.decimal128(5, 2)})

    def accepted(target: WriteTarget, price: str) -> tuple[IngestRecord, WriteResult]:
        row = pa.record_batch([pa.array([1]), pa.array([Decimal(price)], pa.decimal128(5, 2))], schema=kinds)
        made = write_data_files(writer_state(table), target, [row], WriteBounds())
        if price == "-9.00":
            data, deletes = (
                tuple(file.replace('"-9.00"', '"-1000.00"') for file in files)
                for files in (made.data_files, made.delete_files)
            )
            made = replace(made, data_files=data, delete_files=deletes)
        record = IngestRecord(uuid4(), "ann", uuid4(), "f00d", ACCEPTED_AT, (IngestCommit(key, ()),))
        return lakehouse.log.accept(record, [made]), made

    if has_rows:
        lakehouse.commit_all(accepted(upserts, "1.00")[0])
    poison, files = accepted(upserts, "-9.00")
    assert all("-1000.00" in file for file in (*files.data_files, *files.delete_files))
    after, _ = accepted(upserts, "1.00")
    lakehouse.commit_all(poison, after)
    [commit] = lakehouse.record(poison).commits
    assert commit.error_code == "COMMITTABLE_UNREADABLE"
    assert lakehouse.read(key, "id, price") == [(1, Decimal("1.00"))]


@in_both_catalogs
def test_rows_of_an_earlier_partition_spec_without_partitions_are_replaced(
    lakehouse: UpsertLakehouse,
) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 2, "old"), (3, None, "old")))
    partition(lakehouse, "day", IdentityTransform())
    lakehouse.commit_all(lakehouse.append((1, 1, "older spec is no more"), (2, 3, "old")))
    lakehouse.commit_all(lakehouse.upsert((1, 1, "new"), (3, None, "new"), (2, 9, "new"), keys=(1, 2)))
    assert lakehouse.rows() == [(1, 1, "new"), (2, 2, "old"), (2, 3, "old"), (2, 9, "new"), (3, None, "new")]


@in_both_widths
@in_both_catalogs
def test_rows_of_several_earlier_partition_specs_are_replaced_and_compacted(
    lakehouse: UpsertLakehouse, width: CompactionWidth
) -> None:
    partition(lakehouse, "day", IdentityTransform())
    lakehouse.commit_all(lakehouse.append(*((n, n % 2, "a") for n in range(4))))
    with lakehouse.table().update_spec() as spec:
        spec.remove_field("day")
        spec.add_field("id", TruncateTransform(2), "ids")
    lakehouse.commit_all(lakehouse.append(*((n, n % 2, "b") for n in range(4, 8))))
    with lakehouse.table().update_spec() as spec:
        spec.remove_field("ids")
        spec.add_field("id", BucketTransform(3), "part")
    expected = [(n, n % 2, "new" if n in (1, 5, 6) else "a" if n < 4 else "b") for n in range(8)]
    lakehouse.commit_all(lakehouse.upsert((1, 1, "new"), (5, 1, "new"), (6, 0, "new"), keys=(1, 2)))
    assert lakehouse.rows() == expected
    # The next upsert replaces rows of all three.
    lakehouse.commit_all(lakehouse.upsert((1, 1, "again"), (5, 1, "again"), (6, 0, "again"), keys=(1, 2)))
    again = [(n, day, "again" if note == "new" else note) for n, day, note in expected]
    assert lakehouse.rows() == again
    SparkTableMaintenance(lambda: lakehouse.engine.session, width).compact(lakehouse.key)
    assert lakehouse.rows() == again
    assert lakehouse.ids() == list(range(8))


@in_both_catalogs
def test_rows_that_the_keys_cannot_reach_refuse_an_upsert_until_they_are_rewritten(
    lakehouse: UpsertLakehouse,
) -> None:
    partition(lakehouse, "day", IdentityTransform())
    lakehouse.commit_all(lakehouse.append((1, 1, "old")))
    with lakehouse.table().update_spec() as spec:
        spec.remove_field("day")
        spec.add_field("id", BucketTransform(2), "part")
    before = delete_files_of(lakehouse)
    refused = lakehouse.upsert((1, 2, "new"))
    lakehouse.commit_all(refused)
    [commit] = lakehouse.record(refused).commits
    assert commit.error_code == "UPSERT_NOT_POSSIBLE"
    assert "day" in (commit.error_detail or "")
    assert len(delete_files_of(lakehouse) - before) == 1
    SparkTableMaintenance(lambda: lakehouse.engine.session).compact(lakehouse.key)
    lakehouse.commit_all(lakehouse.upsert((1, 3, "new")))
    assert lakehouse.rows() == [(1, 3, "new")]


@in_both_catalogs
def test_an_upsert_that_was_accepted_before_the_table_changed_replaces_rows_of_both_specs(
    lakehouse: UpsertLakehouse,
) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 2, "old")))
    records = [lakehouse.upsert((1, 1, str(turn)), (turn + 5, 1, "x"), keys=(1, 2)) for turn in range(2)]
    between = lakehouse.append((2, 2, "appended"))
    last = lakehouse.upsert((2, 2, "last"), keys=(1, 2))
    partition(lakehouse, "day", IdentityTransform())
    with lakehouse.table().update_schema() as schema:
        schema.update_column("day", LongType())
        schema.rename_column("note", "remark")
    lakehouse.commit_all(*records, between, last)
    assert lakehouse.states([*records, between, last]) == {IngestState.COMMITTED}
    assert lakehouse.read(lakehouse.key, "id, day, remark") == [
        (1, 1, "1"), (2, 2, "last"), (5, 1, "x"), (6, 1, "x"),
    ]  # fmt: skip


def test_an_upsert_into_partitions_by_what_is_none_of_its_keys_is_refused(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old")))
    refused, after = lakehouse.upsert((1, 2, "new")), lakehouse.append((3, 1, "after"))
    partition(lakehouse, "day", IdentityTransform())
    lakehouse.commit_all(refused, after)
    [commit] = lakehouse.record(refused).commits
    assert commit.error_code == "TABLE_CHANGED"
    assert "partitioned by day" in (commit.error_detail or "")
    assert lakehouse.rows() == [(1, 1, "old"), (3, 1, "after")]


def partition(lakehouse: UpsertLakehouse, column: str, transform: Transform[Any, Any]) -> None:
    with lakehouse.table().update_spec() as spec:
        spec.add_field(column, transform, column)


def delete_files_of(lakehouse: UpsertLakehouse) -> set[Path]:
    """Returns all files with keys alone, whether or not the table has them."""
    return {file for file in data_files(lakehouse.table()) if pq.read_schema(file).names == ["id"]}


def test_without_partitions_an_upsert_reaches_every_spec(lakehouse: UpsertLakehouse) -> None:
    with lakehouse.table().update_spec() as spec:
        spec.add_field("day", IdentityTransform(), "day")
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 2, "old")))
    with lakehouse.table().update_spec() as spec:
        spec.remove_field("day")
    lakehouse.commit_all(lakehouse.upsert((1, 7, "new")))
    assert lakehouse.rows() == [(1, 7, "new"), (2, 2, "old")]


@in_both_widths
@pytest.mark.parametrize("is_partitioned", [False, True])
def test_compaction_leaves_no_deletes_so_that_every_reader_finds_the_rows(
    lakehouse: UpsertLakehouse, is_partitioned: bool, width: CompactionWidth
) -> None:
    keys: tuple[int, ...] = (1,)
    if is_partitioned:
        keys = (1, 2)
        with lakehouse.table().update_spec() as spec:
            spec.add_field("day", IdentityTransform(), "day")
    for turn in range(3):
        lakehouse.commit_all(
            lakehouse.upsert(*((n, n % 2, f"{turn}") for n in range(turn, turn + 4)), keys=keys)
        )
    before = lakehouse.rows()
    with pytest.raises(ValueError, match="equality deletes"):
        lakehouse.table().scan().to_arrow()
    counts = SparkTableMaintenance(lambda: lakehouse.engine.session, width).compact(lakehouse.key)
    assert counts["removedDeleteFiles"] > 0
    replaced = [snapshot.summary for snapshot in lakehouse.table().metadata.snapshots[3:]]
    for count, name in (
        ("rewrittenDataFiles", "deleted-data-files"),
        ("addedDataFiles", "added-data-files"),
        ("removedDeleteFiles", "removed-delete-files"),
    ):
        assert counts[count] == sum(int(summary[name] or 0) for summary in replaced if summary is not None)
    assert lakehouse.rows() == before
    assert lakehouse.ids() == [row[0] for row in before] == list(range(6))
    snapshot = lakehouse.table().current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary["total-delete-files"] == "0"
    lakehouse.commit_all(lakehouse.upsert((0, 0, "after"), keys=keys))
    assert (0, 0, "after") in lakehouse.rows()
    assert len(lakehouse.rows()) == 6


@in_both_widths
def test_an_upsert_during_a_compaction_replaces_the_rows_that_are_rewritten(
    lakehouse: UpsertLakehouse, width: CompactionWidth
) -> None:
    """Rewritten rows keep their age, so deletes that came during the compaction apply to them."""
    partition(lakehouse, "day", IdentityTransform())
    for note in ("old", "older"):
        lakehouse.commit_all(lakehouse.upsert((1, 1, note), (2, 1, note), (3, 2, note), keys=(1, 2)))
    assert lakehouse.engine.session is not None
    context = lakehouse.engine.session.context
    table_maintenance = SparkTableMaintenance(lambda: lakehouse.engine.session, width)
    with ThreadPoolExecutor(2) as pool:
        sleeping = pool.submit(context.parallelize([SLEEP_S] * 2, 2).foreach, time.sleep)
        until(lambda: len(context.statusTracker().getActiveStageIds()) == 1)
        compacted = pool.submit(table_maintenance.compact, lakehouse.key)
        until(lambda: len(context.statusTracker().getActiveStageIds()) > 1)
        lakehouse.commit_all(lakehouse.upsert((1, 1, "new"), keys=(1, 2)))
        assert not sleeping.done()
        assert compacted.result(WITHIN_S)["rewrittenDataFiles"] > 0
    expected = [(1, 1, "new"), (2, 1, "older"), (3, 2, "older")]
    assert lakehouse.rows() == expected
    table_maintenance.compact(lakehouse.key)
    assert lakehouse.rows() == expected
    assert lakehouse.ids() == [1, 2, 3]


@in_both_widths
def test_rows_that_spark_deleted_by_position_stay_deleted_after_a_compaction(
    lakehouse: UpsertLakehouse, width: CompactionWidth
) -> None:
    lakehouse.commit_all(lakehouse.append(*((n, n % 2, "a") for n in range(6))))
    lakehouse.commit_all(lakehouse.upsert((1, 1, "b")))
    lakehouse.change("ALTER TABLE {} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    lakehouse.change("DELETE FROM {} WHERE id IN (2, 5)")
    before = lakehouse.rows()
    assert [row[0] for row in before] == [0, 1, 3, 4]
    SparkTableMaintenance(lambda: lakehouse.engine.session, width).compact(lakehouse.key)
    assert lakehouse.rows() == before
    assert lakehouse.ids() == [0, 1, 3, 4]


@in_both_widths
def test_a_compaction_of_rows_that_are_all_deleted_leaves_none(
    lakehouse: UpsertLakehouse, width: CompactionWidth
) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "a"), (2, 2, "a")))
    lakehouse.commit_all(lakehouse.upsert((1, 1, "b"), (2, 2, "b")))
    lakehouse.change("ALTER TABLE {} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    lakehouse.change("DELETE FROM {} WHERE id < 3 AND note >= 'a'")
    SparkTableMaintenance(lambda: lakehouse.engine.session, width).compact(lakehouse.key)
    assert lakehouse.rows() == []
    assert lakehouse.ids() == []


@in_both_widths
@pytest.mark.parametrize("is_back", [False, True])
def test_a_compaction_gives_way_to_an_upsert_under_another_spec(
    lakehouse: UpsertLakehouse, is_back: bool, width: CompactionWidth
) -> None:
    """Compacted files would have a spec in which a concurrent upsert saw no rows, and wrote no deletes."""
    partition(lakehouse, "day", IdentityTransform())
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 1, "old")))
    repartition(lakehouse, "day", "part", BucketTransform(2))
    spec_id = lakehouse.table().spec().spec_id
    assert lakehouse.engine.session is not None
    context = lakehouse.engine.session.context
    table_maintenance = SparkTableMaintenance(lambda: lakehouse.engine.session, width)
    with ThreadPoolExecutor(2) as pool:
        # While these tasks have both cores, the compaction has planned its work, and waits.
        sleeping = pool.submit(context.parallelize([SLEEP_S] * 2, 2).foreach, time.sleep)
        until(lambda: len(context.statusTracker().getActiveStageIds()) == 1)
        compacted = pool.submit(table_maintenance.compact, lakehouse.key)
        until(lambda: len(context.statusTracker().getActiveStageIds()) > 1)
        repartition(lakehouse, "part", "other", TruncateTransform(50))
        lakehouse.commit_all(lakehouse.upsert((1, 1, "new"), keys=(1, 2)))
        if is_back:
            repartition(lakehouse, "other", "part", BucketTransform(2))
            assert lakehouse.table().spec().spec_id == spec_id
        assert not sleeping.done()
        assert compacted.result(WITHIN_S)["rewrittenDataFiles"] > 0
    assert lakehouse.rows() == [(1, 1, "new"), (2, 1, "old")]
    assert lakehouse.ids() == [1, 2]


def repartition(lakehouse: UpsertLakehouse, before: str, after: str, transform: Transform[Any, Any]) -> None:
    with lakehouse.table().update_spec() as spec:
        spec.remove_field(before)
        spec.add_field("id", transform, after)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class MovesOn(SparkRowDeltas):
    """The table is committed to between the reads of the two libraries."""

    lakehouse: UpsertLakehouse
    has_moved = False

    def prepare(self, delta: RowDelta) -> str | None:
        if not self.has_moved:
            self.has_moved = True
            self.lakehouse.table().append(self.lakehouse.table().scan().to_arrow())
        return super().prepare(delta)


@in_both_catalogs
def test_the_engine_makes_no_snapshot_for_another_state_than_was_checked(
    lakehouse: UpsertLakehouse,
) -> None:
    moving = MovesOn(lambda: lakehouse.engine.session)
    lakehouse.commit_all(lakehouse.append((1, 1, "old")))
    moving.lakehouse, lakehouse.row_deltas = lakehouse, moving
    record = lakehouse.upsert((1, 1, "a"))
    lakehouse.commit_all(record)
    assert moving.has_moved
    assert lakehouse.rows() == [(1, 1, "a")]


def test_after_its_first_upsert_a_table_has_no_deletes_so_that_every_reader_reads_it(
    lakehouse: UpsertLakehouse,
) -> None:
    engine, lakehouse.row_deltas = lakehouse.row_deltas, SparkRowDeltas(lambda: None)
    lakehouse.commit_all(lakehouse.upsert((1, 1, "a"), (2, None, "b"), (1, 1, "c")))
    # All keys are outside the bounds of those in the table.
    lakehouse.commit_all(lakehouse.upsert((3, 1, "d"), (4, 1, "e")))
    lakehouse.row_deltas = engine
    assert lakehouse.ids() == [1, 2, 3, 4]
    assert lakehouse.rows() == [(1, 1, "c"), (2, None, "b"), (3, 1, "d"), (4, 1, "e")]
    # The files of their keys are not left on the storage either.
    assert delete_files_of(lakehouse) == set()
    lakehouse.commit_all(lakehouse.upsert((4, 1, "last"), (9, 1, "f")))
    assert lakehouse.rows()[3:] == [(4, 1, "last"), (9, 1, "f")]
    assert len(delete_files_of(lakehouse)) == 1


KEY_SETS = ((1,), (1, 2))
Spec = tuple[str, Transform[Any, Any]] | None


def seeds(count: int) -> pytest.MarkDecorator:
    """Runs a generated test with so many seeds, and once with a table of format version 3."""
    runs = [*(("lake", seed) for seed in range(count)), ("lake3", 0)]
    return pytest.mark.parametrize(("lakehouse", "seed"), runs, indirect=["lakehouse"])


SPECS: tuple[Spec, ...] = (
    None,
    ("day", IdentityTransform()),
    ("id", BucketTransform(2)),
    ("id", TruncateTransform(3)),
)
STEPS = 14


@seeds(4)
def test_upserts_with_and_without_the_deletes_that_delete_nothing_leave_the_same_rows(
    lakehouse: UpsertLakehouse, seed: int
) -> None:
    """Compares random appends, upserts, repartitioning and compactions with a list of rows."""
    chosen = random.Random(seed)
    expected: list[Row] = []
    parted_by: str | None = None
    left_out = 0
    for number in range(STEPS):
        rows = [
            (chosen.randrange(12), chosen.choice([None, 1, 2]), f"{number}.{place}")
            for place in range(chosen.randint(1, 3))
        ]
        step = chosen.choice(["append", "upsert", "upsert", "upsert", "partition", "compact"])
        if step == "append":
            lakehouse.commit_all(lakehouse.append(*rows))
            expected += rows
        elif step == "upsert":
            keys = (1, 2) if parted_by is not None else chosen.choice(KEY_SETS)
            before = lakehouse.snapshot_count()
            lakehouse.commit_all(lakehouse.upsert(*rows, keys=keys))
            snapshot = lakehouse.table().current_snapshot()
            assert lakehouse.snapshot_count() == before + 1
            assert snapshot is not None
            assert snapshot.summary is not None
            left_out += snapshot.summary["added-equality-deletes"] is None
            expected = upserted(expected, rows, len(keys))
        elif step == "partition":
            parted_by = repartitioned(lakehouse, chosen, parted_by)
        else:
            SparkTableMaintenance(lambda: lakehouse.engine.session).compact(lakehouse.key)
        assert sorted(lakehouse.rows(), key=repr) == sorted(expected, key=repr), (seed, number, step)
    assert left_out


def upserted(before: list[Row], rows: Sequence[Row], key_count: int) -> list[Row]:
    last = {row[:key_count]: row for row in rows}
    return [row for row in before if row[:key_count] not in last] + list(last.values())


def repartitioned(
    lakehouse: UpsertLakehouse, chosen: random.Random, now: str | None, specs: Sequence[Spec] = SPECS
) -> str | None:
    wanted = chosen.choice(specs)
    if lakehouse.table().metadata.format_version > 2:
        return repartitioned_by_spark(lakehouse, now, wanted)
    with lakehouse.table().update_spec() as spec:
        if now is not None:
            spec.remove_field(now)
        if wanted is None:
            return None
        name = f"part_{uuid4().hex[:8]}"
        spec.add_field(wanted[0], wanted[1], name)
    return name


def repartitioned_by_spark(lakehouse: UpsertLakehouse, now: str | None, wanted: Spec) -> str | None:
    """Does the same to a table that PyIceberg does not write."""
    if now is not None:
        lakehouse.change(f"ALTER TABLE {{}} DROP PARTITION FIELD {now}")
    if wanted is None:
        return None
    name, (column, transform) = f"part_{uuid4().hex[:8]}", wanted
    kind, _, number = str(transform).rstrip("]").partition("[")
    field = f"{kind}({number}, {column})" if number else column
    lakehouse.change(f"ALTER TABLE {{}} ADD PARTITION FIELD {field} AS {name}")
    return name


COLUMNS = ((1, 2, 3), (3, 1), (2, 3, 1), None)
KEYS_OF_ROWS = ((), (1,), (2,), (1, 2), (3,), (1, 3))


@seeds(4)
def test_whatever_waits_together_is_one_snapshot_with_the_rows_of_one_write_after_the_other(
    lakehouse: UpsertLakehouse, seed: int
) -> None:
    """Compares random write schemas, equality fields, appends and NULLs with a list of rows."""
    chosen = random.Random(seed)
    is_parted = seed % 2 == 1
    if is_parted:
        with lakehouse.table().update_spec() as spec:
            spec.add_field("id", BucketTransform(2), "part")
    expected: list[Row] = []
    for turn in range(3):
        records = []
        for number in range(chosen.randint(2, 7)):
            keys = chosen.choice([key for key in KEYS_OF_ROWS if not key or 1 in key or not is_parted])
            columns = chosen.choice(
                [column for column in COLUMNS if column is None or set(keys) <= set(column)]
            )
            notes = [f"{turn}.{number}", None, "x"]
            rows: list[Row] = [
                (
                    chosen.randrange(5),
                    chosen.choice([None, 1, 2]) if columns is None or 2 in columns else None,
                    chosen.choice(notes),
                )
                for _ in range(chosen.randint(1, 4))
            ]
            records.append(lakehouse.accept_result(lakehouse.written(rows, keys, columns=columns)))
            last = {tuple(row[key - 1] for key in keys): row for row in rows}
            if keys:
                expected = [row for row in expected if tuple(row[key - 1] for key in keys) not in last]
            expected += last.values() if keys else rows
        lakehouse.commit_all(*records)
        assert lakehouse.snapshot_count() == turn + 1
        assert sorted(lakehouse.rows(), key=repr) == sorted(expected, key=repr), (seed, turn)
        assert len({lakehouse.record(record).commits[0].snapshot_id for record in records}) == 1


def test_an_upsert_whose_deletes_reach_no_rows_of_an_earlier_spec_is_refused_out_of_its_round(
    lakehouse: UpsertLakehouse,
) -> None:
    partition(lakehouse, "day", IdentityTransform())
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 1, "old")))
    with lakehouse.table().update_spec() as spec:
        spec.remove_field("day")
        spec.add_field("id", BucketTransform(2), "part")
    results = [([(1, 1, "a")], (1, 2)), ([(1, 1, "refused")], (1,)), ([(2, 1, "b")], (1, 2))]
    records = [lakehouse.accept_result(lakehouse.written(*result)) for result in results]
    lakehouse.commit_all(*records)
    codes = [lakehouse.record(record).commits[0].error_code for record in records]
    assert codes == [None, "UPSERT_NOT_POSSIBLE", None]
    # The rows that the refused upsert would have replaced are still there.
    assert lakehouse.rows() == [(1, 1, "a"), (2, 1, "b")]
    assert lakehouse.snapshot_count() == 2


NO_ANSWER = 0


@over_rest
@pytest.mark.parametrize("status", [NO_ANSWER, 502, 504, 409])
def test_rounds_whose_answers_are_lost_are_in_the_table_once(
    lakehouse: UpsertLakehouse, shared: Shared, status: int
) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "old"), (2, 1, "old")))
    committer = lakehouse.start_committer()
    for write, note in ((lakehouse.upsert, "new"), (lakehouse.append, "appended")):
        shared.proxy.status = status
        committer.follow(write((1, 1, note))).result(WITHIN_S)
        assert shared.proxy.status is None
    assert lakehouse.rows() == [(1, 1, "appended"), (1, 1, "new"), (2, 1, "old")]
    assert lakehouse.snapshot_count() == 3


class CommitsBetween(SparkStoredOrders):
    """Another writer commits after the stored rows were read, and before the round is committed."""

    def __init__(self, engine: SparkEngine) -> None:
        super().__init__(engine, WITHIN_S)
        self.between: list[Callable[[], None]] = []

    def of(self, asked: StoredOrdersQuery) -> pa.Table:
        found = super().of(asked)
        if self.between:
            self.between.pop()()
        return found


def is_late(row: Row, stored: Sequence[Row]) -> bool:
    orders = [other[1] for other in stored if other[0] == row[0] and other[1] is not None]
    return bool(orders) and (row[1] is None or row[1] < max(orders))


def order_of(row: Row) -> int:
    return -1 if row[1] is None else row[1]


def after_round(stored: list[Row], sent: Sequence[tuple[Row, bool]]) -> list[Row]:
    """Returns the rows after one round of ordered records, which came in this order."""
    winners: dict[int, tuple[Row, bool]] = {}
    for row, is_delete in sent:
        before = winners.get(row[0])
        if before is None or order_of(before[0]) <= order_of(row):
            winners[row[0]] = row, is_delete
    kept = {key: winner for key, winner in winners.items() if not is_late(winner[0], stored)}
    rows = [row for row in stored if row[0] not in kept]
    return rows + [row for row, is_delete in kept.values() if not is_delete]


@seeds(3)
def test_late_records_lose_whatever_is_committed_meanwhile(lakehouse: UpsertLakehouse, seed: int) -> None:
    """Compares random records in random order, and other writers between plan and commit, with a list."""
    chosen = random.Random(seed)
    compared = OrderedRounds(lakehouse, chosen)
    for number in range(10):
        step = chosen.choice([*[compared.ordered_round] * 6, *compared.others])
        step(number)
        assert sorted(lakehouse.rows(), key=repr) == sorted(compared.rows, key=repr), (seed, number, step)
    assert compared.moved_count


class OrderedRounds:
    """A table, and the rows that it should have after each step."""

    def __init__(self, lakehouse: UpsertLakehouse, chosen: random.Random) -> None:
        self._lakehouse = lakehouse
        self._chosen = chosen
        self._stored = lakehouse.stored_orders = CommitsBetween(lakehouse.engine)
        self._parted_by: str | None = None
        self.rows: list[Row] = []
        self.moved_count = 0
        self.others = (self.append, self.upsert, self.partition, self.compact)

    def append(self, number: int) -> None:
        rows = self._some_rows(f"{number}")
        self._lakehouse.commit_all(self._lakehouse.append(*rows))
        self.rows += rows

    def upsert(self, number: int) -> None:
        rows = self._some_rows(f"{number}")
        self._lakehouse.commit_all(self._lakehouse.upsert(*rows))
        self.rows = upserted(self.rows, rows, 1)

    def partition(self, _: int) -> None:
        specs = [spec for spec in SPECS if spec is None or spec[0] == "id"]
        self._parted_by = repartitioned(self._lakehouse, self._chosen, self._parted_by, specs)

    def compact(self, _: int) -> None:
        SparkTableMaintenance(lambda: self._lakehouse.engine.session).compact(self._lakehouse.key)

    def ordered_round(self, number: int) -> None:
        """Commits several requests, perhaps while another writer adds a row, after they were compared."""
        sent = [
            [(row, self._chosen.random() < 0.3) for row in self._some_rows(f"{number}.{request}")]
            for request in range(self._chosen.randint(1, 3))
        ]
        [other, *_] = self._some_rows(f"{number}.other")
        if self._chosen.random() < 0.7:
            self._stored.between = [lambda: append_outside(self._lakehouse, other)]
        may_move = bool(self._stored.between)
        records = [self._lakehouse.accept_result(ordered(self._lakehouse, request)) for request in sent]
        self._lakehouse.commit_all(*records)
        if may_move and not self._stored.between:
            self.rows.append(other)
            self.moved_count += 1
        self._stored.between = []
        self.rows = after_round(self.rows, [entry for request in sent for entry in request])
        assert len({self._lakehouse.record(record).commits[0].snapshot_id for record in records}) == 1

    def _some_rows(self, note: str) -> list[Row]:
        return [
            (self._chosen.randrange(6), self._chosen.choice([None, *range(9)]), f"{note}.{place}")
            for place in range(self._chosen.randint(1, 4))
        ]


def ordered(lakehouse: UpsertLakehouse, sent: Sequence[tuple[Row, bool]]) -> WriteResult:
    return lakehouse.written([row for row, _ in sent], order=2, deletes=[mark for _, mark in sent])


def append_outside(lakehouse: UpsertLakehouse, row: Row) -> None:
    table = lakehouse.table()
    if table.metadata.format_version > 2:
        written = ", ".join("NULL" if value is None else repr(value) for value in row)
        lakehouse.change(f"INSERT INTO {{}} VALUES ({written})")
        return
    values = {"id": [row[0]], "day": [row[1]], "note": [row[2]]}
    table.append(pa.table(values, schema=table.schema().as_arrow()))


ORDERED = {
    "at": (TimestampType(), pa.timestamp("us"), datetime(2026, 1, 1, 2, 3, 4, 5)),
    "moment": (TimestamptzType(), pa.timestamp("us", "UTC"), datetime(1900, 1, 1, tzinfo=UTC)),
    "day": (DateType(), pa.date32(), date(2026, 2, 3)),
    "amount": (DecimalType(12, 3), pa.decimal128(12, 3), Decimal("-12.345")),
    "name": (StringType(), pa.large_string(), "it's \\ é"),
    "count": (LongType(), pa.int64(), 1 << 60),
    "number": (IntegerType(), pa.int32(), -7),
}
KEYED = ORDERED | {
    "token": (UUIDType(), pa.string(), str(UUID(int=7))),
    "hash": (FixedType(4), pa.binary(), b"\x00\xff'a"),
    "raw": (BinaryType(), pa.binary(), b"\x80"),
    "is_on": (BooleanType(), pa.bool_(), True),
}


def test_stored_orders_are_read_for_keys_and_orders_of_every_type(lakehouse: UpsertLakehouse) -> None:
    fields = [NestedField(1, "key", LongType())]
    fields += [NestedField(place, name, kind) for place, (name, (kind, _, _)) in enumerate(KEYED.items(), 2)]
    table = lakehouse.create(f"ordered_{uuid4().hex}", Schema(*fields))
    values: dict[str, list[Any]] = {"key": [1, 2]}
    values |= {name: [value, None] for name, (_, _, value) in KEYED.items()}
    values["token"] = [UUID(int=7).bytes, None]
    table.append(pa.table(values, schema=table.schema().as_arrow()))
    table.refresh()
    snapshot = table.current_snapshot()
    assert snapshot is not None
    stored = lakehouse.stored_orders
    assert stored is not None
    key = TableKey(TableName("lake", *table.name()))
    asked = StoredOrdersQuery(key, snapshot.snapshot_id, ("key",), "key", pa.table({"key_0": [1]}))
    for name, (_, kind, value) in KEYED.items():
        keys = pa.table({"key_0": pa.array([value, None], kind)})
        found = stored.of(replace(asked, key_columns=(name,), keys=keys))
        assert sorted(found.to_pylist(), key=repr) == [
            {"number": 0, "order": 1},
            {"number": 1, "order": 2},
        ], name
    both = pa.table({"key_0": [2, 3, 1]})
    for name in ORDERED:
        query = replace(asked, order_column=name, keys=both)
        found, wanted = stored.of(query), FakeStoredOrders(lambda: table).of(query)
        kind = ORDERED[name][1]
        assert [
            {
                row["number"]: row["order"]
                for row in one.set_column(1, "order", one.column("order").cast(kind)).to_pylist()
            }
            for one in (found, wanted)
        ] == [{0: None, 2: ORDERED[name][2]}] * 2, name
    # Python has no such dates.
    days = pa.array([5_000_000, -5_000_000, None, 20_487], pa.date32())
    found = stored.of(replace(asked, key_columns=("day",), keys=pa.table({"key_0": days})))
    assert {row["number"]: row["order"] for row in found.to_pylist()} == {2: 2, 3: 1}
    raw = pa.table({"key_0": pa.array([b"\x80"], pa.large_binary())})
    assert stored.of(replace(asked, key_columns=("raw",), keys=raw)).to_pylist() == [
        {"number": 0, "order": 1}
    ]
    nothing = replace(asked, key_columns=(None,), keys=pa.table({"key_0": pa.array([None, 1], pa.int64())}))
    assert stored.of(nothing).to_pylist() == [{"number": 0, "order": 2}]


def test_many_keys_find_their_rows_in_files_whose_bounds_are_cut(lakehouse: UpsertLakehouse) -> None:
    """Ranges of keys select files and row groups by bounds, of which texts have only the first characters."""
    fields = (
        NestedField(1, "name", StringType()),
        NestedField(2, "number", IntegerType()),
        NestedField(3, "at", LongType()),
    )
    table = lakehouse.create(f"ordered_{uuid4().hex}", Schema(*fields))
    prefixes = ("the same letters before ", "\U0001f600" * 20, "\uffff" * 20)
    names = [f"{prefixes[place % 3]}{place:04}" for place in range(600)]
    for part in (names[:300], [*names[300:], None]):
        numbers = [None if name is None else -int(name[-4:]) for name in part]
        orders = [place if number is None else number for place, number in enumerate(numbers)]
        values = {"name": part, "number": pa.array(numbers, pa.int32()), "at": orders}
        table.append(pa.table(values, schema=table.schema().as_arrow()))
        table.refresh()
    with table.update_schema() as change:
        change.rename_column("number", "count")
        change.update_column("number", LongType())
    snapshot = table.current_snapshot()
    assert snapshot is not None
    stored = lakehouse.stored_orders
    assert stored is not None
    key = TableKey(TableName("lake", *table.name()))
    for count in (5, 450):
        keys = [None, "", f"{prefixes[0]}9999", *names[-count:]]
        query = StoredOrdersQuery(key, snapshot.snapshot_id, ("name",), "at", pa.table({"key_0": keys}))
        assert found_orders(stored, query) == {0: 300} | {
            place: -int(name[-4:]) for place, name in enumerate(keys) if name in names
        }
        # As wide as the column is now; the snapshot knows neither the type nor the name.
        counts = [None, 1 << 40, *range(-count, 0)]
        wide = pa.table({"key_0": pa.array(counts, pa.int64())})
        by_number = replace(query, key_columns=("number",), keys=wide, has_current_names=False)
        assert found_orders(stored, by_number) == {0: 300} | {
            place: number for place, number in enumerate(counts) if number is not None and number < 0
        }


def found_orders(stored: StoredOrders, query: StoredOrdersQuery) -> dict[int, int]:
    return {row["number"]: row["order"] for row in stored.of(query).to_pylist()}


def test_a_round_that_is_in_the_table_already_knows_its_late_records(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.accept_result(ordered(lakehouse, [((1, 5, "new"), False)])))
    sent = [((1, 3, "late"), False), ((1, 4, "late"), True), ((2, 1, "first"), False)]
    results = tuple(ordered(lakehouse, [entry]) for entry in sent)
    committable = Committable(lakehouse.key, uuid4(), (uuid4(),), results)
    made = lakehouse.new_commits().commit(committable)
    again = lakehouse.new_commits().commit(committable)
    assert (made.late_counts, made.is_repeated) == ((1, 1, 0), False)
    assert again == replace(made, is_repeated=True)
    assert lakehouse.rows() == [(1, 5, "new"), (2, 1, "first")]


def test_a_round_that_is_late_as_a_whole_is_a_snapshot_without_rows(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.accept_result(ordered(lakehouse, [((1, 5, "new"), False)])))
    record = lakehouse.accept_result(ordered(lakehouse, [((1, 4, "late"), False)]))
    lakehouse.commit_all(record)
    [commit] = lakehouse.record(record).commits
    assert [(target.record_count, target.late_count) for target in commit.targets] == [(1, 1)]
    assert lakehouse.rows() == [(1, 5, "new")]
    assert lakehouse.snapshot_count() == 2
    # Everybody reads the table: it has no deletes.
    assert lakehouse.ids() == [1]


@of_version_3
def test_upserts_into_version_3_leave_what_every_reader_reads_at_once(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "a"), (2, 1, "b")), lakehouse.append((3, None, "c")))
    lakehouse.commit_all(lakehouse.upsert((1, 2, "new"), (4, 1, "d")), lakehouse.append((1, 3, "appended")))
    lakehouse.commit_all(lakehouse.upsert((2, 2, "new"), (3, 1, "new")))
    deletes = [lakehouse.written([(1, None, None)], columns=(1,), deletes=[True])]
    lakehouse.commit_all(lakehouse.accept_results(deletes))
    expected = [(2, 2, "new"), (3, 1, "new"), (4, 1, "d")]
    assert lakehouse.rows() == expected
    table = lakehouse.table()
    snapshots = table.metadata.snapshots
    assert [snapshot.first_row_id for snapshot in snapshots] == [0, 3, 6, 8]
    summaries = [snapshot.summary for snapshot in snapshots]
    assert [summary and summary["added-equality-deletes"] for summary in summaries] == [None] * 4
    assert [summary and summary["added-dvs"] for summary in summaries] == [None, "1", "2", "2"]
    columns = table.scan().to_arrow().to_pydict().values()
    assert sorted(zip(*columns, strict=True)) == expected
    numbers = [row[0] for row in lakehouse.read(lakehouse.key, "_row_id")]
    assert len(set(numbers)) == len(expected)
    assert None not in numbers
    for snapshot, count in zip(snapshots, (3, 5, 5, 3), strict=True):
        assert len(lakehouse.rows(f"VERSION AS OF {snapshot.snapshot_id}")) == count
    SparkTableMaintenance(lambda: lakehouse.engine.session).compact(lakehouse.key)
    assert lakehouse.rows() == expected
    assert [row[0] for row in lakehouse.read(lakehouse.key, "_row_id")] == numbers
    head = lakehouse.table().current_snapshot()
    assert head is not None
    assert head.summary is not None
    assert head.summary["total-delete-files"] == "0"
    lakehouse.commit_all(lakehouse.upsert((4, 9, "last")))
    assert lakehouse.rows() == [*expected[:2], (4, 9, "last")]


class ChangesBetween(PyIcebergTableCommits):
    """Another writer changes the table just before, once."""

    changes: Sequence[Callable[[], None]] = ()

    def _publish(self, append: SnapshotAppend) -> None:
        for change in self.changes:
            change()
        self.changes = ()
        super()._publish(append)


KEPT = [(2, 1, "b"), (3, 1, "c")]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("INSERT INTO {} VALUES (1, 7, 'between')", KEPT),
        ("DELETE FROM {} WHERE id = 3", KEPT[:1]),
        ("DELETE FROM {}.branch_audit WHERE id = 3", KEPT),
        ("ALTER TABLE {} ADD PARTITION FIELD id", KEPT),
    ],
    ids=["rows", "vectors", "branch", "spec"],
)
@pytest.mark.parametrize("lakehouse", ["lake3"], indirect=True)
def test_rows_are_looked_for_again_if_the_table_has_changed(
    lakehouse: UpsertLakehouse, change: str, expected: list[Row]
) -> None:
    lakehouse.change("ALTER TABLE {} SET TBLPROPERTIES ('write.delete.mode'='merge-on-read')")
    lakehouse.commit_all(lakehouse.append((1, 1, "a"), (2, 1, "b"), (3, 1, "c")))
    lakehouse.change("ALTER TABLE {} CREATE BRANCH audit")
    commits = lakehouse.new_commits(ChangesBetween)
    assert isinstance(commits, ChangesBetween)
    commits.changes = [lambda: lakehouse.change(change)]
    record = lakehouse.upsert((1, 2, "new"))
    lakehouse.start_committer(commits=commits).follow(record).result(WITHIN_S)
    assert not commits.changes
    assert lakehouse.rows() == [(1, 2, "new"), *expected]
    table = lakehouse.table()
    numbers = [snapshot.sequence_number for snapshot in table.metadata.snapshots]
    assert numbers == list(range(1, len(numbers) + 1))
    # Vectors of the attempt that failed are gone.
    folder = Path(table.location().removeprefix("file://")) / "data"
    assert set(folder.rglob("*.puffin")) == {file for file in all_files(table) if file.suffix == ".puffin"}


@pytest.mark.parametrize("lakehouse", ["lake3"], indirect=True)
def test_rows_of_version_3_are_found_by_keys_of_every_type(lakehouse: UpsertLakehouse) -> None:
    names = [f"k{place}" for place in range(len(KEYS))]
    fields = [NestedField(place, names[place - 2], kind) for place, (kind, _, _) in enumerate(KEYS, start=2)]
    key = TableKey(TableName("lake", "game", f"keys_{uuid4().hex}"))
    table = lakehouse.create(key.table.table, Schema(NestedField(1, "n", LongType()), *fields))
    lakehouse.change(f"ALTER TABLE {table_sql_name(key.table)} SET TBLPROPERTIES ('format-version'='3')")
    every_key = tuple(field.field_id for field in fields)

    def commit(places: Sequence[int | None], numbers: Sequence[int], equality_ids: tuple[int, ...]) -> None:
        target = replace(
            target_of(table, key, None), is_upsert=bool(equality_ids), equality_field_ids=equality_ids
        )
        keys = {
            name: pa.array([None if place is None else values[place] for place in places], arrow)
            for name, (_, arrow, values) in zip(names, KEYS, strict=True)
        }
        rows = pa.record_batch({"n": pa.array(numbers, pa.int64()), **keys})
        result = write_data_files(writer_state(table), target, [rows], WriteBounds())
        lakehouse.new_commits().commit(Committable(key, uuid4(), (uuid4(),), (result,)))

    commit([0, 1, None, 0], [1, 2, 3, 4], ())
    commit([0], [5], every_key)
    assert lakehouse.read(key, "n") == [(2,), (3,), (5,)]
    commit([None, 1], [6, 7], every_key)
    assert lakehouse.read(key, "n") == [(5,), (6,), (7,)]
    for field_id, number in zip(every_key, range(8, 8 + len(KEYS)), strict=True):
        commit([1], [number], (field_id,))
        assert lakehouse.read(key, "n") == [(5,), (6,), (number,)]
    head = table.refresh().current_snapshot()
    assert head is not None
    assert head.summary is not None
    assert (head.summary["added-dvs"], head.summary["total-equality-deletes"]) == ("1", "0")


@pytest.mark.parametrize("lakehouse", ["lake3"], indirect=True)
def test_more_rows_than_vectors_may_have_are_deleted_by_their_keys(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "a"), (1, 1, "b"), (2, 1, "c"), (3, 1, "d")))
    lakehouse.vector_rows = 2
    lakehouse.commit_all(lakehouse.upsert((1, 1, "new")))
    lakehouse.commit_all(lakehouse.upsert((1, 2, "new"), (2, 2, "new"), (3, 2, "new")))
    assert lakehouse.rows() == [(1, 2, "new"), (2, 2, "new"), (3, 2, "new")]
    summaries = [snapshot.summary for snapshot in lakehouse.table().metadata.snapshots[1:]]
    assert [summary and summary["added-dvs"] for summary in summaries] == ["1", None]
    assert [summary and summary["added-equality-deletes"] for summary in summaries] == [None, "3"]


@pytest.mark.parametrize("lakehouse", ["lake3"], indirect=True)
def test_rows_that_have_a_key_by_default_are_replaced(lakehouse: UpsertLakehouse) -> None:
    lakehouse.commit_all(lakehouse.append((1, 1, "a"), (2, 1, "b")))
    assert lakehouse.engine.session is not None
    java, root = lakehouse.engine.session.row_deltas._gateway.jvm, lakehouse.engine.session.row_deltas._root
    iceberg = java.org.apache.iceberg
    changed = iceberg.spark.Spark3Util.loadIcebergTable(
        root._jsparkSession, table_sql_name(lakehouse.key.table)
    )
    kind, default = iceberg.types.Types.fromPrimitiveString("int"), iceberg.expressions.Expressions.lit(5)
    changed.updateSchema().addColumn("level", kind, default).commit()
    table = lakehouse.table()
    # No row has NULL there, and all have the default.
    for number, level in ((8, None), (9, 5)):
        target = replace(target_of(table, lakehouse.key, None), is_upsert=True, equality_field_ids=(4,))
        values = {"id": pa.array([number], pa.int64()), "day": pa.nulls(1, pa.int32())}
        rows = pa.record_batch(
            values | {"note": pa.nulls(1, pa.string()), "level": pa.array([level], pa.int32())}
        )
        result = write_data_files(writer_state(table), target, [rows], WriteBounds())
        key = lakehouse.key
        lakehouse.new_commits().commit(Committable(key, uuid4(), (uuid4(),), (result,)))
        if level is None:
            assert lakehouse.read(key, "id, level") == [(1, 5), (2, 5), (8, None)]
    assert lakehouse.read(lakehouse.key, "id, level") == [(8, None), (9, 5)]


@of_version_3
def test_variants_are_committed_into_both_catalogs(lakehouse: UpsertLakehouse) -> None:
    lakehouse.change("ALTER TABLE {} ADD COLUMN payload VARIANT")
    table = lakehouse.opened()
    fields = table_schema(table.schema()).columns

    def commit(rows: Sequence[tuple[int, object]], equality_ids: tuple[int, ...]) -> None:
        target = replace(
            target_of(table, lakehouse.key, None),
            is_upsert=bool(equality_ids),
            equality_field_ids=equality_ids,
        )
        variants = [
            {"id": row[0], "payload": None if row[1] is None else variant_value(row[1], 9)} for row in rows
        ]
        batch = pa.RecordBatch.from_pylist(variants, schema=arrow_schema(fields))
        result = write_data_files(writer_state(table), target, [batch], WriteBounds())
        committed = lakehouse.new_commits().commit(Committable(lakehouse.key, uuid4(), (uuid4(),), (result,)))
        assert not committed.is_repeated

    commit([(1, {"x": 1}), (2, None), (3, ["a"])], ())
    commit([(2, {"x": 2}), (3, None)], (1,))
    assert lakehouse.read(lakehouse.key, "id, to_json(payload)") == [
        (1, '{"x":1}'),
        (2, '{"x":2}'),
        (3, None),
    ]
    assert len(lakehouse.opened().metadata.snapshots) == 2
    assert lakehouse.opened().schema() == table.schema()
