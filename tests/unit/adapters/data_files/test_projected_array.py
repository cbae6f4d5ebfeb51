"""Columns that are missing from a file."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StructType

from service.adapters.catalogs.iceberg_schemas import pyiceberg_type
from service.adapters.data_files.read_back.projected_array import projected_columns
from service.model.tables.schemas import Primitive

FOUND = Schema(NestedField(1, "a", LongType()))
DEFAULTS = {
    "boolean": True,
    "int": 7,
    "long": 2**40,
    "decimal(9,2)": "1.50",
    "date": "2026-01-31",
    "timestamp": "2026-01-31T01:02:03.000004",
    "timestamptz": "2026-01-31T01:02:03.000004+00:00",
    "string": "2026-01-31",
    "uuid": "f79c3e09-677c-4bbd-a479-3f349cb785e7",
    "fixed[2]": "0aff",
    "binary": "0aff",
}


def schema_of(kind: str, default: object) -> Schema:
    field = {"id": 2, "name": "b", "type": kind, "required": False, "initial-default": default}
    return Schema.model_validate({"type": "struct", "fields": [field], "schema-id": 0})


@pytest.mark.parametrize(("kind", "default"), DEFAULTS.items(), ids=DEFAULTS)
def test_a_column_with_an_initial_default_reads_back_as_it(kind: str, default: object) -> None:
    """The default comes from a table's metadata, or as text from a writer's state."""
    parsed = schema_of(kind, default)
    plain = Schema(NestedField(2, "b", pyiceberg_type(Primitive(kind)), initial_default=default))
    batch = pa.record_batch({"a": [1, 2, 3]})
    one, other = (projected_columns(batch, FOUND, schema).column(0) for schema in (parsed, plain))
    assert one.equals(other)
    assert one.null_count == 0
    assert one.to_pylist() == [one[0].as_py()] * 3
    written = {"date": "2026-01-31", "string": "2026-01-31", "int": "7", "decimal(9,2)": "1.50"}
    if kind in written:
        assert str(one[0]) == written[kind]


def test_without_one_it_is_null_in_structs_too() -> None:
    inner = StructType(NestedField(3, "x", LongType(), initial_default=5), NestedField(4, "y", LongType()))
    found = Schema(NestedField(2, "s", StructType(NestedField(5, "z", LongType()))), *FOUND.fields)
    batch = pa.record_batch({"s": pa.array([{"z": 1}, None]), "a": pa.array([1, 2])})
    wanted = Schema(NestedField(2, "s", inner), NestedField(6, "b", LongType()))
    rows = projected_columns(batch, found, wanted).to_pylist()
    assert rows == [{"s": {"x": 5, "y": None}, "b": None}, {"s": None, "b": None}]
