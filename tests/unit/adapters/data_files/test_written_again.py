from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.uncommitted_rows import ParquetWrittenRows
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.unavailable import StorageDown
from service.ingest.committing.rewrite_target import rewrite_target
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.model.ingest.writing import TableKey, WritableTable, WriteTarget
from service.model.tables.tables import TableName
from tests.unit.adapters.data_files.states import paths_of, rows_of

KEY = TableKey(TableName("lake", "s", "t"))
LEAVES: list[tuple[IcebergType, IcebergType, list[object]]] = [
    (BooleanType(), BooleanType(), [True, False]),
    (IntegerType(), LongType(), [2**31 - 1, -(2**31)]),
    (LongType(), LongType(), [2**63 - 1, -(2**63)]),
    (FloatType(), DoubleType(), [0.5, float("-inf")]),
    (DoubleType(), DoubleType(), [0.1, -0.0]),
    (DecimalType(9, 2), DecimalType(20, 2), [Decimal("1234567.89"), Decimal("-0.01")]),
    (DecimalType(38, 10), DecimalType(38, 10), [Decimal("1" * 28 + ".0000000001"), Decimal(0)]),
    (DateType(), DateType(), [date(1, 1, 1), date(9999, 12, 31)]),
    (TimeType(), TimeType(), [time(23, 59, 59, 999999), time(0)]),
    (TimestampType(), TimestampType(), [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    (
        TimestamptzType(),
        TimestamptzType(),
        [datetime(1969, 12, 31, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)],
    ),
    (StringType(), StringType(), ["", "ü😀"]),
    (BinaryType(), BinaryType(), [b"", b"\xff\x00"]),
    (FixedType(3), FixedType(3), [b"abc", b"\x00\x00\x00"]),
    (UUIDType(), UUIDType(), [UUID(int=5).bytes, UUID(int=2**128 - 1).bytes]),
]


def table_of(folder: Path, schema: Schema) -> WritableTable:
    state = WriterState(schema, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, folder.as_uri(), {}, {})
    return WritableTable(KEY, UUID(int=1), 2, table_schema(schema), 0, (), (), state.encoded())


def rewritten(folder: Path, before: Schema, now: Schema, rows: pa.RecordBatch) -> list[dict[str, object]]:
    """Writes rows for one schema, writes them again for another one, and returns the result."""
    first, second = table_of(folder, before), table_of(folder, now)
    bounds, reader = WriteBounds(), ParquetWrittenRows()
    target = WriteTarget(KEY, before.schema_id, 0)
    result = write_data_files(WriterState.decoded(first.state), target, [rows], bounds)
    target_now = rewrite_target(second, target, reader.columns(second, result.data_files[0]))
    batches = reader.batches(second, target_now, result.data_files)
    again = write_data_files(WriterState.decoded(second.state), target_now, batches, bounds)
    return [row for file in rows_of(again) for row in file]


def test_values_of_every_type_are_the_same_after_they_were_written_again(tmp_path: Path) -> None:
    before = Schema(*(NestedField(n, f"c {n}", kind) for n, (kind, _, _) in enumerate(LEAVES, 1)))
    now = Schema(*(NestedField(n, f"c {n}!", kind) for n, (_, kind, _) in enumerate(LEAVES, 1)), schema_id=1)
    given = [[*values, None] for _, _, values in LEAVES]
    names = [field.name for field in before.fields]
    rows = rewritten(tmp_path, before, now, pa.RecordBatch.from_arrays(list(map(pa.array, given)), names))
    columns = zip(*(row.values() for row in rows), strict=True)
    assert [[exactly(value) for value in column] for column in columns] == [
        [exactly(value) for value in values] for values in given
    ]


def exactly(value: object) -> object:
    """Distinguishes 0.0 from -0.0, and returns a UUID as its bytes."""
    return value.bytes if isinstance(value, UUID) else repr(value) if isinstance(value, float) else value


def nested(schema_id: int, names: tuple[str, str], *further: NestedField) -> Schema:
    struct = StructType(
        NestedField(20, names[0], StringType()), *further, NestedField(21, names[1], IntegerType())
    )
    return Schema(
        NestedField(1, "place", struct),
        NestedField(2, "tags", ListType(3, StructType(NestedField(22, names[0], StringType())), False)),
        NestedField(
            4, "facts", MapType(5, StringType(), 6, StructType(NestedField(23, names[1], LongType())), False)
        ),
        NestedField(7, "n", ListType(8, IntegerType(), False)),
        schema_id=schema_id,
    )


def test_fields_inside_of_others_are_found_by_their_ids_and_null_stays_null(tmp_path: Path) -> None:
    rows = [
        {"place": {"a": "x", "b": 1}, "tags": [{"a": "t"}, None], "facts": [("k", {"b": 5})], "n": [1, None]},
        {"place": None, "tags": None, "facts": None, "n": None},
        {"place": {"a": None, "b": None}, "tags": [], "facts": [], "n": []},
        {"place": {"a": "z", "b": 3}, "tags": [{"a": None}], "facts": [("l", None)], "n": [7]},
    ]
    kind = pa.struct([("a", pa.string()), ("b", pa.int32())])
    given = pa.RecordBatch.from_pylist(
        rows,
        pa.schema(
            [
                ("place", kind),
                ("tags", pa.list_(pa.struct([("a", pa.string())]))),
                ("facts", pa.map_(pa.string(), pa.struct([("b", pa.int64())]))),
                ("n", pa.list_(pa.int32())),
            ]
        ),
    )
    new = NestedField(30, "new", StringType())
    found = rewritten(tmp_path, nested(0, ("a", "b")), nested(1, ("b", "a"), new), given)
    assert found == [
        {
            "place": {"b": "x", "new": None, "a": 1},
            "tags": [{"b": "t"}, None],
            "facts": [("k", {"a": 5})],
            "n": [1, None],
        },
        {"place": None, "tags": None, "facts": None, "n": None},
        {"place": {"b": None, "new": None, "a": None}, "tags": [], "facts": [], "n": []},
        {"place": {"b": "z", "new": None, "a": 3}, "tags": [{"b": None}], "facts": [("l", None)], "n": [7]},
    ]


def with_required(schema_id: int, *names: str) -> Schema:
    """Returns optional structs of required fields: at the top, in a struct, in a list and in a map."""

    def struct(field_id: int) -> StructType:
        further = (NestedField(field_id + 10, name, StringType()) for name in names[1:])
        return StructType(NestedField(field_id, names[0], IntegerType(), required=True), *further)

    inner = [struct(number) for number in range(20, 24)]
    return Schema(
        NestedField(1, "i", IntegerType()),
        NestedField(2, "st", inner[0]),
        NestedField(3, "outer", StructType(NestedField(4, "inner", inner[1], required=True))),
        NestedField(5, "tags", ListType(6, inner[2], False)),
        NestedField(7, "facts", MapType(8, StringType(), 9, inner[3], False)),
        schema_id=schema_id,
    )


def nulls_around(x: dict[str, object]) -> list[dict[str, object]]:
    return [
        {"i": 1, "st": x, "outer": {"inner": x}, "tags": [x, None], "facts": [("k", x)]},
        {"i": 2, "st": None, "outer": None, "tags": [None], "facts": [("k", None)]},
        {"i": 3, "st": None, "outer": None, "tags": None, "facts": None},
        {"i": 4, "st": x, "outer": None, "tags": [], "facts": []},
    ]


@pytest.mark.parametrize("part", [slice(4), slice(1, 3)])
@pytest.mark.parametrize(
    ("before", "now", "filed"),
    [("x", ("y",), "y"), ("user-agent", ("user-agent",), "user_x2Dagent"), ("x", ("a.b", "new"), "a_x2Eb")],
)
def test_null_structs_with_required_fields_are_null_after_they_were_written_again(
    tmp_path: Path, before: str, now: tuple[str, ...], filed: str, part: slice
) -> None:
    first, second = with_required(0, before), with_required(1, *now)
    given = arrow_schema(table_schema(first).columns)
    rows = pa.RecordBatch.from_pylist(nulls_around({before: 5})[part], given)
    expected = nulls_around({filed: 5} | dict.fromkeys(now[1:]))[part]
    assert rewritten(tmp_path, first, second, rows) == expected


def test_a_storage_that_gives_no_files_is_reported_by_its_table(tmp_path: Path) -> None:
    schema = Schema(NestedField(1, "i", IntegerType()))
    table, target = table_of(tmp_path, schema), WriteTarget(KEY, schema.schema_id, 0)
    rows = pa.RecordBatch.from_pydict({"i": [1]})
    result = write_data_files(WriterState.decoded(table.state), target, [rows], WriteBounds())
    [path] = paths_of(result)
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageDown, match=r"The storage of lake\.s\.t does not return files"):
        list(ParquetWrittenRows().batches(table, target, result.data_files))
