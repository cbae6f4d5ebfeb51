from __future__ import annotations

import math
import re
from datetime import date
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import UnknownTransform
from pyiceberg.types import (
    DateType,
    DoubleType,
    FixedType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    UUIDType,
)

from service.adapters.data_files.layout.columns import column_places
from service.adapters.data_files.layout.partitions import Partitioning
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from tests.unit.adapters.data_files.states import EVENTS, spec_of

PLACES = column_places(EVENTS)
PAIRS = Schema(NestedField(1, "a", LongType()), NestedField(2, "b", StringType()))


def parts_of(spec: PartitionSpec, schema: Schema, table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    partitioning = Partitioning(spec, column_places(schema))
    found = [(repr(values), rows.to_pylist()) for values, rows in partitioning.parts(table)]
    assert len(dict(found)) == len(found)
    return dict(found)


def test_without_a_spec_all_rows_are_one_part() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    assert parts_of(PartitionSpec(), PAIRS, table) == {"()": table.to_pylist()}


@given(st.lists(st.tuples(st.none() | st.integers(-3, 3), st.none() | st.sampled_from(["x", "y", ""]))))
def test_every_row_is_in_the_part_of_its_values_in_the_order_that_it_had(rows: list[tuple[Any, Any]]) -> None:
    table = pa.table(
        {
            "a": pa.array([a for a, _ in rows], pa.int64()),
            "b": pa.array([b for _, b in rows], pa.large_string()),
            "row": pa.array(range(len(rows)), pa.int64()),
        }
    )
    found = parts_of(spec_of((1, "identity", "a"), (2, "identity", "b")), PAIRS, table) if rows else {}
    expected: dict[str, list[dict[str, Any]]] = {}
    for number, (a, b) in enumerate(rows):
        expected.setdefault(repr((a, b)), []).append({"a": a, "b": b, "row": number})
    assert found == expected


def test_values_are_those_that_iceberg_keeps() -> None:
    schema = Schema(
        NestedField(2, "day", EVENTS.find_type(2)),
        NestedField(12, "u", UUIDType()),
        NestedField(5, "place", StructType(NestedField(6, "city", StringType()))),
    )
    spec = spec_of((2, "identity", "d"), (2, "month", "m"), (12, "bucket[2]", "u"), (6, "truncate[1]", "c"))
    table = pa.table(
        {
            "day": [date(1970, 2, 2), None],
            "u": pa.array([UUID(int=7).bytes, None], pa.binary(16)).cast(pa.uuid()),
            "place": pa.array([{"city": "Bonn"}, None], pa.struct([("city", pa.large_string())])),
        }
    )
    found = [values for values, _ in Partitioning(spec, column_places(schema)).parts(table)]
    assert sorted(found, key=repr) == [(32, 1, 0, "B"), (None, None, None, None)]


def test_the_two_zeros_are_one_partition_and_nan_is_none() -> None:
    schema = Schema(NestedField(1, "x", DoubleType()))
    spec = spec_of((1, "identity", "x"))
    found = parts_of(spec, schema, pa.table({"x": [0.0, -0.0, 0.0, None]}))
    assert set(found) == {"(0.0,)", "(None,)"}
    for value in (math.nan, math.inf):
        with pytest.raises(RecordsInvalid, match="x"):
            parts_of(spec, schema, pa.table({"x": [1.0, value]}))


def test_a_source_that_is_not_written_and_a_transform_nobody_knows_are_refused() -> None:
    with pytest.raises(IngestInvalid, match="day_month"):
        Partitioning(spec_of((99, "month", "day_month")), PLACES)
    field = PartitionField(1, 1000, UnknownTransform("zorder"), "z")
    with pytest.raises(IngestInvalid, match="z"):
        Partitioning(PartitionSpec(field), PLACES)


def test_a_value_that_the_transform_has_nothing_for_is_refused() -> None:
    far = pa.array([2**31 - 1], pa.int32()).cast(pa.date32())
    schema = Schema(NestedField(2, "day", DateType()))
    with pytest.raises(RecordsInvalid, match="no year"):
        parts_of(spec_of((2, "year", "y")), schema, pa.table({"day": far}))


def test_a_field_that_was_removed_is_null_and_needs_no_source() -> None:
    spec = spec_of((99, "void", "gone"), (1, "identity", "a"))
    found = parts_of(spec, PAIRS, pa.table({"a": [1, 2], "b": ["x", "y"]}))
    assert found == {"(None, 1)": [{"a": 1, "b": "x"}], "(None, 2)": [{"a": 2, "b": "y"}]}


@pytest.mark.parametrize("kind", [UUIDType(), FixedType(3)], ids=str)
def test_uuids_and_fixed_bytes_as_they_are_are_no_partitions(kind: PrimitiveType) -> None:
    places = column_places(Schema(NestedField(1, "u", kind)))
    with pytest.raises(IngestInvalid, match=f"identity of the type {re.escape(str(kind))}"):
        Partitioning(spec_of((1, "identity", "u")), places)
