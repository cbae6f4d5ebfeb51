"""Files with columns of the type `variant`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import ListType, LongType, NestedField, StringType, StructType

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.catalogs.variant_type import VariantType
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.read_back.uncommitted_rows import written_batches
from service.adapters.data_files.writer.variant_footer import annotated_footer
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.ingest.decoding.values.variant_values import variant_value
from tests.unit.adapters.data_files.states import paths_of, read, state_of, write

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "payload", VariantType()),
    NestedField(3, "inside", StructType(NestedField(4, "more", VariantType()))),
    NestedField(5, "many", ListType(6, VariantType(), element_required=False)),
    NestedField(7, "name", StringType()),
)
A, B = variant_value({"x": "a", "y": [1, None]}, 9), variant_value([True], 9)
ROWS: list[dict[str, Any]] = [
    {"id": 1, "payload": A, "inside": {"more": B}, "many": [A, None], "name": "n"},
    {"id": 2, "payload": None, "inside": None, "many": [], "name": None},
    {"id": 3, "payload": B, "inside": {"more": None}, "many": None, "name": "m"},
]
BATCH = pa.RecordBatch.from_pylist(ROWS, schema=arrow_schema(table_schema(SCHEMA).columns))


def test_variants_are_written_as_their_specification_says(tmp_path: Path) -> None:
    state = state_of(tmp_path, SCHEMA)
    result = write(WriterState.decoded(state.encoded()), None, [BATCH])
    [path] = paths_of(result)
    assert pq.read_table(path).to_pylist() == ROWS
    text = str(pq.ParquetFile(path).schema)
    assert text.count("(Variant(1))") == 3
    assert "optional group field_id=2 payload (Variant(1)) {" in text
    assert text.count("required binary field_id=-1 metadata;") == text.count("field_id=-1 value;") == 3
    with duckdb.connect() as connection:
        found = connection.from_parquet(str(path))
        assert [str(kind) for kind in found.types[:3]] == ["BIGINT", "VARIANT", "STRUCT(more VARIANT)"]
        read = connection.execute("SELECT payload.x::VARCHAR FROM read_parquet(?) WHERE id = 1", [str(path)])
        assert read.fetchall() == [("a",)]


def test_variants_have_counts_and_no_bounds(tmp_path: Path) -> None:
    state = state_of(tmp_path, SCHEMA)
    result = write(state, None, [BATCH, BATCH])
    [file] = read(state, result)
    assert {field_id: file.value_counts[field_id] for field_id in (1, 2, 4, 7)} == {1: 6, 2: 6, 4: 6, 7: 6}
    assert {field_id: file.null_value_counts.get(field_id) for field_id in (2, 4, 6)} == {2: 2, 4: 4, 6: None}
    assert set(file.lower_bounds) == set(file.upper_bounds) == {1, 7}
    assert set(file.column_sizes) == {1, 2, 4, 6, 7}
    [path] = paths_of(result)
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = {group.column(at).path_in_schema: group.column(at) for at in range(group.num_columns)}
    own = [column for name, column in columns.items() if name.endswith((".metadata", ".value"))]
    assert len(own) == 6
    assert [column.statistics for column in own] == [None] * 6
    sizes = [columns[f"payload.{name}"].total_compressed_size for name in ("metadata", "value")]
    assert file.column_sizes[2] == sum(sizes)


def test_files_without_the_column_count_it_as_null(tmp_path: Path) -> None:
    state = state_of(tmp_path, SCHEMA)
    result = write(state, (1, 7), [BATCH.select(["id", "name"])])
    [file] = read(state, result)
    assert (file.value_counts[2], file.null_value_counts[2]) == (3, 3)


def test_written_variants_are_read_back_for_another_file(tmp_path: Path) -> None:
    state = state_of(tmp_path, SCHEMA)
    result = write(state, (2, 1), [BATCH.select(["payload", "id"])])
    batches = list(written_batches(state, SCHEMA, result.data_files, "t"))
    again = write(state, None, batches)
    [path] = paths_of(again)
    expected = [{"id": row["id"], "payload": row["payload"]} for row in ROWS]
    assert pq.read_table(path, columns=["id", "payload"]).to_pylist() == expected


def test_a_footer_without_the_variants_is_refused() -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1]}), sink)
    content = sink.getvalue().to_pybytes()
    size = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - size : -8]
    assert annotated_footer(footer, ()) == footer
    with pytest.raises(ValueError, match="0 of 1"):
        annotated_footer(footer, {7})
