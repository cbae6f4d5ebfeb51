"""Delete files that a commit omits because of their metadata delete no row, as a check of the rows shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform, TruncateTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestamptzType,
    UUIDType,
)

from service.adapters.commits.live_files import LiveFiles
from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.needed_deletes import NeededDeletes
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.metrics.content_files import data_file, locations_of
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import not_synced
from service.model.ingest.writing import Committable, TableKey, WriteResult
from service.model.tables.tables import TableName
from tests.contract.catalogs.plain_data_files import target_of

KEY = TableKey(TableName("lake", "game", "logs"))
Kind = tuple[PrimitiveType, pa.DataType, Sequence[object]]
KINDS: tuple[Kind, ...] = (
    (LongType(), pa.int64(), [-(2**63), -1, 0, 1, 2**40]),
    (IntegerType(), pa.int32(), [-7, 0, 5, 9]),
    (StringType(), pa.string(), ["", "a", "é", "z" * 40, "z" * 40 + "y", "\U0010ffff" * 20]),
    (DateType(), pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(2026, 1, 1)]),
    (
        TimestamptzType(),
        pa.timestamp("us", "UTC"),
        [datetime(year, 1, 1, tzinfo=UTC) for year in (1900, 2026)],
    ),
    (DecimalType(9, 2), pa.decimal128(9, 2), [Decimal("-1.50"), Decimal("0.00"), Decimal("1.05")]),
    (BooleanType(), pa.bool_(), [True, False]),
    (UUIDType(), pa.binary(16), [UUID(int=1).bytes, UUID(int=2**127 + 1).bytes]),
    (BinaryType(), pa.binary(), [b"", b"\xff" * 20, b"a"]),
)
ORDERED = (LongType, IntegerType, StringType, DateType, TimestamptzType, DecimalType, BooleanType)
METRICS = ("full", "truncate(16)", "truncate(1)", "counts", "none")
Rows = list[tuple[Any, Any]]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlCatalog]:
    folder = tmp_path_factory.mktemp("needed")
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": folder.as_uri()}
    with closing(SqlCatalog("lake", **properties)) as made:
        made.create_namespace("game")
        yield made


class Rig:
    """A table of two columns of any types, and the rows written to it."""

    def __init__(self, catalog: SqlCatalog, kinds: Sequence[Kind], metrics: str) -> None:
        self._catalog = catalog
        self._kinds = kinds
        self.name = f"game.t_{uuid4().hex}"
        fields = [NestedField(place + 1, "ab"[place], kind[0]) for place, kind in enumerate(kinds)]
        catalog.create_table(
            self.name, Schema(*fields), properties={"write.metadata.metrics.default": metrics}
        )
        self.rows: Rows = []

    @property
    def table(self) -> Table:
        return self._catalog.load_table(self.name)

    def written(self, rows: Rows, keys: tuple[int, ...] = ()) -> WriteResult:
        table = self.table
        target = replace(target_of(table, KEY, None), is_upsert=bool(keys), equality_field_ids=keys)
        columns = [pa.array([row[place] for row in rows], kind[1]) for place, kind in enumerate(self._kinds)]
        batch = pa.record_batch(columns, names=["a", "b"])
        return write_data_files(writer_state(table), target, [batch], WriteBounds())

    def append(self, rows: Rows) -> None:
        committable = Committable(KEY, uuid4(), (uuid4(),), (self.written(rows),))
        SnapshotAppend.prepare(self.table, committable, data_file, ManifestLists(not_synced)).publish()
        self.rows += rows

    def repartition(self, column: str | None, transform: Transform[Any, Any]) -> None:
        with self.table.update_spec() as change:
            for field in self.table.spec().fields:
                change.remove_field(field.name)
            if column is not None:
                change.add_field(column, transform, f"part_{uuid4().hex[:6]}")

    def deleting(self, files: Sequence[str], keys: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
        """Yields each file, and whether it has the key of a row of the table."""
        had = {tuple(row[key - 1] for key in keys) for row in self.rows}
        for text, location in zip(files, locations_of(files), strict=True):
            found = pq.read_table(location.removeprefix("file://")).to_pydict()
            columns = [_plain(found["ab"[key - 1]]) for key in keys]
            yield text, bool(had & set(zip(*columns, strict=True)))


def _plain(values: Sequence[object]) -> list[object]:
    return [value.bytes if isinstance(value, UUID) else value for value in values]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=some.data())
def test_no_file_is_left_out_that_has_the_key_of_a_row(catalog: SqlCatalog, data: some.DataObject) -> None:
    kinds = [data.draw(some.sampled_from(KINDS)) for _ in range(2)]
    row = some.tuples(*(some.one_of(some.none(), some.sampled_from(list(kind[2]))) for kind in kinds))
    rig = Rig(catalog, kinds, data.draw(some.sampled_from(METRICS)))
    needed = NeededDeletes(LiveFiles(1_000))
    # PyIceberg cannot write a file into an identity partition of a UUID column.
    sources = [name for name, kind in zip("ab", kinds, strict=True) if not isinstance(kind[0], UUIDType)]
    if data.draw(some.booleans()) and sources:
        rig.repartition(data.draw(some.sampled_from(sources)), IdentityTransform())
    for _ in range(data.draw(some.integers(0, 3))):
        rig.append(data.draw(some.lists(row, min_size=1, max_size=3)))
    keys: tuple[int, ...] = (
        (1, 2) if rig.table.spec().fields else data.draw(some.sampled_from([(1,), (1, 2)]))
    )
    files = rig.written(data.draw(some.lists(row, min_size=1, max_size=4)), keys).delete_files
    remaining = needed.of(rig.table, "main", files)
    for text, deletes_any in rig.deleting(files, keys):
        assert text in remaining or not deletes_any
    assert rig.rows or not remaining


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if isinstance(kind[0], ORDERED)], ids=lambda kind: str(kind[0])
)
def test_keys_beyond_all_bounds_need_no_deletes_and_keys_within_do(catalog: SqlCatalog, kind: Kind) -> None:
    values: list[Any] = sorted(set(kind[2]))
    rig = Rig(catalog, [kind, KINDS[0]], "full")
    needed = NeededDeletes(LiveFiles(1_000))
    rig.append([(values[0], 1)])
    beyond, within = rig.written([(values[-1], 1)], (1,)), rig.written([(values[0], 1)], (1,))
    nothing = rig.written([(None, 1)], (1,))
    assert needed.of(rig.table, "main", beyond.delete_files) == []
    assert needed.of(rig.table, "main", within.delete_files) == list(within.delete_files)
    assert needed.of(rig.table, "main", nothing.delete_files) == []
    # The append since the last call is noticed.
    rig.append([(values[-1], 2), (None, 3)])
    assert needed.of(rig.table, "main", beyond.delete_files) == list(beyond.delete_files)
    assert needed.of(rig.table, "main", nothing.delete_files) == list(nothing.delete_files)
    assert NeededDeletes(LiveFiles(0)).of(rig.table, "main", beyond.delete_files) == list(beyond.delete_files)


@pytest.mark.parametrize("transform", [IdentityTransform(), BucketTransform(4), TruncateTransform(10)])
def test_only_partitions_that_have_rows_are_deleted_from(
    catalog: SqlCatalog, transform: Transform[Any, Any]
) -> None:
    rig = Rig(catalog, [KINDS[0], KINDS[1]], "none")
    rig.repartition("b", transform)
    rig.append([(1, 5)])
    files = rig.written([(1, 5), *((1, number) for number in range(40, 100, 7))], (1, 2)).delete_files
    assert len(files) > 1
    [remaining] = NeededDeletes(LiveFiles(1_000)).of(rig.table, "main", files)
    assert (remaining, True) in list(rig.deleting(files, (1, 2)))


def test_widened_columns_and_earlier_specs_and_files_without_metrics_are_taken_for_what_they_may_hold(
    catalog: SqlCatalog, tmp_path: Path
) -> None:
    rig = Rig(catalog, [KINDS[1], KINDS[1]], "full")
    needed = NeededDeletes(LiveFiles(1_000))
    rig.append([(5, 5)])
    with rig.table.update_schema() as change:
        change.update_column("a", LongType())
    rig._kinds = [KINDS[0], KINDS[1]]
    same, other = rig.written([(5, 9)], (1,)), rig.written([(6, 9)], (1,))
    assert needed.of(rig.table, "main", same.delete_files) == list(same.delete_files)
    assert needed.of(rig.table, "main", other.delete_files) == []
    path = tmp_path / "theirs.parquet"
    pq.write_table(pa.table({"a": pa.array([6], pa.int64()), "b": pa.array([1], pa.int32())}), path)
    rig.table.add_files([path.as_uri()])
    assert needed.of(rig.table, "main", other.delete_files) == list(other.delete_files)
    rig.repartition("a", IdentityTransform())
    own = rig.written([(6, 9)], (1,))
    # Rows written under the earlier spec are the concern of deletes written under that spec.
    assert needed.of(rig.table, "main", own.delete_files) == []
    assert rig.table.spec() != PartitionSpec()
