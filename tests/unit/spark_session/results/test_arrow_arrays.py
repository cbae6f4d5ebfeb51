"""Arrays as the JVM sends them, with the types of a result."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import types as t

from spark_session.results.arrow_arrays import in_type
from spark_session.results.arrow_rows import arrow_table
from spark_session.results.arrow_schema import arrow_schema


def without_offsets(kind: pa.DataType, *children: pa.Array) -> pa.Array:
    """Returns an empty array as Java writes it."""
    return pa.Array.from_buffers(
        kind, 0, [None, None, None][: 3 if not children else 2], children=[*children]
    )


ENTRIES = pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.int64())])
NO_MAPS = without_offsets(pa.map_(pa.string(), pa.int64()), pa.nulls(0, ENTRIES))


@pytest.mark.parametrize(
    "array",
    [
        NO_MAPS,
        pa.ListArray.from_arrays(pa.array([0, 0, 0], pa.int32()), NO_MAPS),
        pa.StructArray.from_arrays([pa.ListArray.from_arrays(pa.array([0, 0], pa.int32()), NO_MAPS)], ["f"]),
        without_offsets(pa.list_(pa.int8()), pa.nulls(0, pa.int8())),
    ],
)
def test_offsets_that_java_leaves_out_are_there(array: pa.Array) -> None:
    found = in_type(array, array.type)
    found.validate(full=True)
    assert found.nbytes >= 0
    assert len(found) == len(array)


VALUES: list[tuple[pa.Array, pa.DataType]] = [
    (pa.array([1, None]), pa.int64()),
    (pa.array([1, None], pa.timestamp("us", "Europe/Berlin")), pa.timestamp("us", "UTC")),
    (pa.array([[1], None, []]), pa.list_(pa.field("element", pa.int64()))),
    (pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), pa.map_(pa.string(), pa.int64())),
    (pa.array([{"a": 1}, None]), pa.struct([pa.field("b", pa.int64())])),
    (pa.array([1, None], pa.int32()), pa.int64()),
]


@pytest.mark.parametrize(("array", "kind"), VALUES)
def test_values_stay_what_they_are_under_another_type(array: pa.Array, kind: pa.DataType) -> None:
    found = in_type(array, kind)
    found.validate(full=True)
    assert found.type == kind
    assert found.null_count == array.null_count
    assert (
        found.cast(array.type).equals(array)
        if not pa.types.is_struct(kind)
        else found.field(0)[0].as_py() == 1
    )


def test_rows_without_columns_are_counted_over_all_batches() -> None:
    [batch] = pa.table({"n": [1, 2, 3]}).to_batches()
    assert arrow_table([batch.select([]), batch.slice(1).select([])], pa.schema([])).num_rows == 5


NOT_NULL_VOID = t.StructField("v", t.NullType(), nullable=False)


@pytest.mark.parametrize(
    "kind",
    [
        t.NullType(),
        t.ArrayType(t.NullType(), containsNull=False),
        t.MapType(t.NullType(), t.NullType(), valueContainsNull=False),
        t.StructType([NOT_NULL_VOID]),
        t.ArrayType(
            t.StructType([t.StructField("m", t.MapType(t.NullType(), t.NullType(), False), False)]), False
        ),
        t.StructType([t.StructField("x", t.LongType()), t.StructField("x", t.LongType())]),
        t.CharType(3),
        t.VarcharType(3),
        t.TimeType(),
    ],
)
def test_every_type_has_a_schema_that_arrow_takes(kind: t.DataType) -> None:
    schema = arrow_schema(t.StructType([t.StructField("f", kind, nullable=False)]))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(schema.empty_table())
    assert pa.ipc.open_stream(sink.getvalue()).read_all().schema == schema
