from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.conversions import from_bytes
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection
from pyiceberg.types import DoubleType, LongType, NestedField, PrimitiveType, StringType, StructType, UUIDType

from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from service.ingest.decoding.parquet.parquet_footer import column_chunks
from service.ingest.decoding.parquet.parquet_pages import pages
from service.model.ingest.writing import WriteResult
from tests.unit.adapters.data_files import full_disk
from tests.unit.adapters.data_files.states import (
    EVENTS,
    files_below,
    order_of,
    paths_of,
    read,
    rows_of,
    spec_of,
    state_of,
    target_of,
)
from tests.unit.adapters.data_files.writers import Write, Writer

ASCENDING = (SortDirection.ASC, NullOrder.NULLS_FIRST)
ROOT = Path(__file__).parents[4]
TINY = WriteBounds(buffered_bytes=1500, open_files=2)


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.record_batch(columns)


def numbers(count: int, start: int = 0) -> pa.RecordBatch:
    return batch(id=pa.array(range(start, start + count), pa.int64()))


def primitive(field_id: int) -> PrimitiveType:
    found = EVENTS.find_type(field_id)
    assert isinstance(found, PrimitiveType)
    return found


def partitions(state: WriterState, result: WriteResult) -> list[tuple[Any, ...]]:
    records = [file.partition for file in read(state, result)]
    return [tuple(record[index] for index in range(len(record))) for record in records]


def test_a_file_has_the_columns_of_its_target_in_their_order_with_their_ids(
    tmp_path: Path, write: Write
) -> None:
    rows = batch(name=["a", None], place=[{"zip": 5}, None], id=[1, 2], tags=[[{"tag": "t"}], []])
    result = write(state_of(tmp_path), (3, 7, 1, 8), [rows])
    [path] = paths_of(result)
    schema = pq.read_schema(path)
    assert schema.names == ["name", "place", "id", "tags"]
    assert [int(field.metadata[b"PARQUET:field_id"]) for field in schema] == [3, 5, 1, 8]
    assert [field.nullable for field in schema] == [True, True, False, True]
    assert int(schema.field("place").type.field("zip").metadata[b"PARQUET:field_id"]) == 7
    element = schema.field("tags").type.value_field
    assert int(element.metadata[b"PARQUET:field_id"]) == 9
    assert rows_of(result) == [rows.to_pylist()]


def test_without_rows_there_is_no_file(tmp_path: Path, write: Write) -> None:
    result = write(state_of(tmp_path), (1,), [numbers(0)])
    assert (result.data_files, result.record_count, result.byte_count) == ((), 0, 0)
    assert files_below(tmp_path) == []


def test_the_result_counts_rows_and_bytes_and_names_its_target(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path)
    result = write(state, (1,), [numbers(3), numbers(2)])
    assert (result.target, result.record_count) == (target_of(state, (1,)), 5)
    assert result.byte_count == sum(file.stat().st_size for file in files_below(tmp_path))
    assert read(state, result)[0].file_size_in_bytes == result.byte_count


def test_skipped_columns_are_counted_as_null_but_not_those_that_read_as_a_default(
    tmp_path: Path, write: Write
) -> None:
    state = state_of(tmp_path)
    [file] = read(state, write(state, (1, 6), [batch(id=[1, 2], place=[{"city": "x"}, None])]))
    assert file.value_counts == {1: 2, 6: 2} | dict.fromkeys((2, 3, 4, 7, 8), 2)
    assert file.null_value_counts == {1: 0, 6: 1} | dict.fromkeys((2, 3, 4, 7, 8), 2)
    assert set(file.column_sizes) == {1, 6}


def test_metrics_hold_for_all_row_groups(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, properties={"write.parquet.row-group-limit": "2"})
    rows = batch(id=[5, 1, 9, 2, 7], name=["x" * 20, "b", None, None, "a"], amount=[1.0, 2.0, None, -0.5, 4])
    [file] = read(state, write(state, (1, 3, 4), [rows]))
    assert [len(file.split_offsets or ()), file.record_count] == [3, 5]
    assert (file.null_value_counts[3], file.null_value_counts[4], file.nan_value_counts) == (2, 1, {4: 0})
    low = {key: from_bytes(primitive(key), value) for key, value in file.lower_bounds.items()}
    high = {key: from_bytes(primitive(key), value) for key, value in file.upper_bounds.items()}
    assert low == {1: 1, 3: "a", 4: -0.5}
    assert high == {1: 9, 3: "x" * 15 + "y", 4: 4.0}


def test_a_bound_that_a_row_group_does_not_tell_is_left_out(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, properties={"write.parquet.row-group-limit": "1"})
    [file] = read(state, write(state, (1, 3), [batch(id=[1, 2], name=["b", "a" * 5000])]))
    assert 3 not in file.lower_bounds
    assert 3 not in file.upper_bounds
    assert file.null_value_counts[3] == 0


def test_bounds_hold_for_both_zeros_and_parquet_has_none_for_floats(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path)
    result = write(state, (1, 4), [batch(id=[1, 2], amount=[0.0, 0.0])])
    [file] = read(state, result)
    assert (file.lower_bounds[4], file.upper_bounds[4]) == (struct.pack("<d", -0.0), struct.pack("<d", 0.0))
    footer = pq.read_metadata(paths_of(result)[0])
    assert [footer.row_group(0).column(index).is_stats_set for index in range(2)] == [True, False]


def test_uuids_have_no_bounds_for_nobody_agrees_on_their_order(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, schema=Schema(NestedField(1, "u", UUIDType())))
    result = write(state, None, [batch(u=pa.array([bytes(16), None], pa.binary(16)))])
    [file] = read(state, result)
    assert (file.value_counts, file.null_value_counts, file.lower_bounds) == ({1: 2}, {1: 1}, {})
    assert not pq.read_metadata(paths_of(result)[0]).row_group(0).column(0).is_stats_set


def test_nan_is_counted_and_takes_away_the_upper_bound(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path)
    rows = batch(id=[1, 2, 3], amount=[1.0, math.nan, None])
    [file] = read(state, write(state, (1, 4), [rows]))
    assert file.nan_value_counts == {4: 1}
    assert 4 not in file.upper_bounds
    assert (file.null_value_counts[4], file.lower_bounds[4]) == (1, struct.pack("<d", 1.0))


def test_nothing_is_said_of_nan_where_there_is_nothing_else(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path)
    [file] = read(state, write(state, (1, 4), [batch(id=[1, 2], amount=[math.nan, math.nan])]))
    assert (file.nan_value_counts, file.value_counts[4], file.null_value_counts[4]) == ({}, 2, 0)
    assert 4 not in file.lower_bounds
    assert 4 not in file.upper_bounds


@pytest.mark.parametrize(
    ("mode", "bounds", "counts"),
    [("none", set(), {2}), ("counts", set(), {1, 2, 3}), ("full", {3}, {1, 2, 3})],
)
def test_metrics_are_written_as_the_table_says(
    tmp_path: Path, mode: str, bounds: set[int], counts: set[int], write: Write
) -> None:
    properties = {"write.metadata.metrics.default": mode, "write.metadata.metrics.column.id": "counts"}
    properties |= {"write.metadata.metrics.column.amount": "none"}
    state = state_of(tmp_path, properties=properties)
    [file] = read(state, write(state, (1, 3), [batch(id=[1], name=["n" * 30])]))
    assert set(file.lower_bounds) == bounds
    assert 4 not in file.value_counts
    assert set(file.value_counts) & {1, 2, 3} == counts | {1}


def test_partitions_have_files_and_folders_of_their_own(tmp_path: Path, write: Write) -> None:
    spec = spec_of((2, "month", "day_month"), (3, "truncate[1]", "n/x"))
    state = state_of(tmp_path, spec=spec)
    rows = batch(id=[1, 2, 3], day=[date(1970, 2, 1), None, date(1970, 2, 28)], name=["a b", None, "a&c"])
    result = write(state, (1, 2, 3), [rows])
    assert sorted(partitions(state, result), key=str) == [(1, "a"), (None, None)]
    assert {(file.spec_id, file.record_count) for file in read(state, result)} == {(4, 2), (4, 1)}
    assert {path.parent.relative_to(tmp_path).as_posix() for path in paths_of(result)} == {
        "data/day_month=1970-02/n%2Fx=a",
        "data/day_month=null/n%2Fx=null",
    }


def test_two_fields_of_one_source_are_both_computed(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, spec=spec_of((1, "bucket[2]", "b"), (1, "truncate[10]", "t")))
    assert partitions(state, write(state, (1,), [numbers(1, start=34)])) == [(2017239379 % 2, 30)]


@pytest.mark.parametrize(
    ("properties", "pattern"),
    [
        ({}, "t/data/d=null/*.parquet"),
        ({"write.data.path": "{}/elsewhere/"}, "elsewhere/d=null/*.parquet"),
        ({"write.object-storage.enabled": "true"}, "t/data/*/*/*/*/d=null/*.parquet"),
        (
            {"write.object-storage.enabled": "true", "write.object-storage.partitioned-paths": "false"},
            "t/data/*/*/*/*-*.parquet",
        ),
        ({"write.py-location-provider.impl": "os.path"}, "t/data/d=null/*.parquet"),
    ],
)
def test_files_lie_where_the_table_wants_them(
    tmp_path: Path, properties: dict[str, str], pattern: str, write: Write
) -> None:
    placed = {key: value.format(tmp_path.as_uri()) for key, value in properties.items()}
    state = state_of(tmp_path / "t", spec=spec_of((2, "day", "d")), properties=placed)
    write(state, (1, 2), [batch(id=[1], day=pa.array([None], pa.date32()))])
    assert len(files_below(tmp_path)) == len(list(tmp_path.glob(pattern))) == 1


def test_each_file_is_sorted_however_little_is_buffered(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, order=order_of((1, *ASCENDING)))
    result = write(state, (1,), [numbers(20, start=40), numbers(20), numbers(20, start=20)], TINY)
    files = [[row["id"] for row in rows] for rows in rows_of(result)]
    assert all(file == sorted(file) for file in files)
    assert sorted(row for file in files for row in file) == list(range(60))
    assert len(files) > 1
    assert {file.sort_order_id for file in read(state, result)} == {5}


BY_DAY = order_of((2, SortDirection.DESC, NullOrder.NULLS_LAST))
BY_NAME = order_of((3, *ASCENDING)).model_copy(update={"order_id": 7})


@pytest.mark.parametrize(("asked", "column"), [(None, "day"), (5, "day"), (7, "name"), (0, None)])
def test_files_are_in_the_order_that_was_asked_for_or_in_the_table_s_own(
    tmp_path: Path, asked: int | None, column: str | None
) -> None:
    state = replace(state_of(tmp_path, order=BY_DAY), sort_orders=(BY_DAY, BY_NAME))
    state = WriterState.decoded(state.encoded())
    rows: list[dict[str, Any]] = [
        {"id": n, "day": date(2026, 1, 1 + n % 3), "name": str(n * 7 % 10)} for n in range(10)
    ]
    target = replace(target_of(state, (1, 2, 3)), sort_order_id=asked)
    result = write_data_files(state, target, [pa.RecordBatch.from_pylist(rows)], WriteBounds())
    [file] = read(state, result)
    [found] = rows_of(result)
    expected = rows if column is None else sorted(rows, key=lambda row: row[column], reverse=column == "day")
    assert [row["id"] for row in found] == [row["id"] for row in expected]
    assert file.sort_order_id == (5 if asked is None else asked)


def test_an_order_that_the_table_does_not_know_is_refused(tmp_path: Path) -> None:
    state = state_of(tmp_path, order=BY_DAY)
    target = replace(target_of(state, (1,)), sort_order_id=9)
    with pytest.raises(IngestInvalid, match="knows no sort order 9"):
        write_data_files(state, target, [], WriteBounds())


def test_without_a_column_of_the_order_rows_stay_as_they_are_and_are_not_said_to_be_sorted(
    tmp_path: Path, write: Write
) -> None:
    state = state_of(tmp_path, order=order_of((3, *ASCENDING)))
    result = write(state, (1,), [batch(id=[3, 1, 2])])
    assert [row["id"] for row in rows_of(result)[0]] == [3, 1, 2]
    assert read(state, result)[0].sort_order_id == 0


def test_a_file_that_is_large_enough_gets_no_more_rows(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, properties={"write.target-file-size-bytes": "4000"})
    result = write(state, (1,), [numbers(1000, start=1000 * index) for index in range(5)])
    assert len(result.data_files) > 1
    assert result.record_count == 5000
    assert max(file.stat().st_size for file in files_below(tmp_path)) < 8_000


def test_no_more_files_are_open_than_allowed_and_no_row_is_lost(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, spec=spec_of((1, "bucket[5]", "b")))
    result = write(state, (1,), [numbers(50, start=50 * index) for index in range(4)], TINY)
    assert sorted(row["id"] for rows in rows_of(result) for row in rows) == list(range(200))
    assert len(result.data_files) > 5


def test_more_files_than_may_be_are_refused_and_none_is_left(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, spec=spec_of((1, "identity", "id")))
    bounds = WriteBounds(files=20)
    with pytest.raises(IngestInvalid, match="more than 20 files"):
        write(state, (1,), [numbers(21)], bounds)
    assert not files_below(tmp_path)
    assert len(write(state, (1,), [numbers(20)], bounds).data_files) == 20


def test_a_value_that_is_too_long_for_a_folder_is_reported_as_bad(tmp_path: Path, write: Write) -> None:
    schema = Schema(NestedField(1, "name", StringType()))
    state = state_of(tmp_path, schema, spec_of((1, "identity", "name")))
    with pytest.raises(RecordsInvalid, match="too long for the name of a folder"):
        write(state, (1,), [pa.record_batch({"name": ["x" * 300]})])
    assert len(write(state, (1,), [pa.record_batch({"name": ["x" * 200]})]).data_files) == 1


def test_batches_are_taken_one_after_the_other(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, properties={"write.target-file-size-bytes": "1"})
    seen: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for index in range(6):
            seen.append(len(files_below(tmp_path)))
            yield numbers(30, start=30 * index)

    write(state, (1,), batches(), WriteBounds(buffered_bytes=300))
    assert seen[0] == 0
    assert seen[-1] > 0


def test_nothing_is_left_of_a_write_that_failed(tmp_path: Path, write: Write) -> None:
    state = state_of(tmp_path, spec=spec_of((1, "bucket[5]", "b")))

    def batches() -> Iterator[pa.RecordBatch]:
        yield numbers(100)
        yield numbers(100)
        assert files_below(tmp_path)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(state, (1,), batches(), TINY)
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("transform", ["identity", "day"])
def test_days_that_have_no_folder_are_refused(tmp_path: Path, transform: str, write: Write) -> None:
    state = state_of(tmp_path, spec=spec_of((2, transform, "d")))
    far = pa.array([-3_000_000], pa.int32()).cast(pa.date32())
    with pytest.raises(RecordsInvalid):
        write(state, (1, 2), [batch(id=[1], day=far)])
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("room", [0, 100, 300])
def test_nothing_is_left_when_the_storage_has_no_room(tmp_path: Path, room: int, write: Write) -> None:
    storage = {"py-io-impl": full_disk.NAME, "room": str(room)}
    state = replace(state_of(tmp_path, spec=spec_of((1, "bucket[5]", "b"))), io_properties=storage)
    with pytest.raises(OSError, match="No space"):
        write(state, (1,), [numbers(1000)])
    assert files_below(tmp_path) == []


@pytest.mark.parametrize(
    "rows",
    [
        {"id": [None], "name": ["a"]},
        {"name": ["a"], "id": [1]},
        {"id": [1]},
        {"id": ["1"], "name": ["a"]},
        {"id": [1], "name": [1]},
        {"id": [True], "name": ["a"]},
        {"id": [2.5], "name": ["a"]},
    ],
)
def test_records_that_do_not_fit_are_refused(tmp_path: Path, rows: dict[str, Any], write: Write) -> None:
    with pytest.raises(RecordsInvalid):
        write(state_of(tmp_path), (1, 3), [batch(**rows)])
    assert files_below(tmp_path) == []


def test_what_is_required_inside_a_struct_must_be_there(tmp_path: Path, write: Write) -> None:
    inner = StructType(NestedField(3, "x", LongType(), required=True))
    state = state_of(tmp_path, schema=Schema(NestedField(1, "s", inner)))
    assert write(state, None, [batch(s=[{"x": 1}, None])]).record_count == 2
    with pytest.raises(RecordsInvalid, match="s"):
        write(state, None, [batch(s=[{"x": None}, None])])


def test_slices_of_batches_are_written_as_they_are_seen(tmp_path: Path, write: Write) -> None:
    rows = batch(
        id=list(range(6)),
        place=[{"city": str(n), "zip": n} if n % 2 else None for n in range(6)],
        tags=[[{"tag": str(n)}] * n for n in range(6)],
    ).slice(2, 3)
    assert rows_of(write(state_of(tmp_path), (1, 5, 8), [rows])) == [rows.to_pylist()]


@pytest.mark.parametrize("column_ids", [(99,), ()])
def test_targets_that_no_file_can_be_written_for_are_refused(
    tmp_path: Path, column_ids: tuple[int, ...], write: Write
) -> None:
    with pytest.raises(IngestInvalid):
        write(state_of(tmp_path), column_ids, [])


def test_targets_of_another_state_are_refused(tmp_path: Path, writer: Writer) -> None:
    state = state_of(tmp_path)
    target = target_of(state)
    for other in (replace(target, schema_id=9), replace(target, spec_id=9)):
        with pytest.raises(IngestInvalid):
            writer(state, other, [numbers(1)], WriteBounds())


def test_columns_that_a_file_would_call_alike_are_refused_together_and_written_apart(
    tmp_path: Path, write: Write
) -> None:
    schema = Schema(NestedField(1, "a.b", LongType()), NestedField(2, "a_x2Eb", LongType()))
    state = state_of(tmp_path, schema)
    both = pa.record_batch({"a.b": [1], "a_x2Eb": [2]})
    with pytest.raises(IngestInvalid, match="a_x2Eb"):
        write(state, None, [both])
    assert files_below(tmp_path) == []
    assert write(state, (1,), [both.select(["a.b"])]).record_count == 1


def test_a_column_name_that_avro_does_not_know_is_written_as_iceberg_does(
    tmp_path: Path, write: Write
) -> None:
    schema = Schema(
        NestedField(1, "a.b", StringType()),
        NestedField(2, "c", StructType(NestedField(3, "d-e", DoubleType()))),
    )
    state = state_of(tmp_path, schema=schema)
    result = write(state, None, [pa.record_batch({"a.b": ["x"], "c": [{"d-e": 1.0}]})])
    assert pq.read_schema(paths_of(result)[0]).names == ["a_x2Eb", "c"]
    [file] = read(state, result)
    assert (file.value_counts, file.nan_value_counts) == ({1: 1, 3: 1}, {3: 0})


def test_the_tables_properties_reach_the_file(tmp_path: Path, write: Write) -> None:
    properties = {
        "write.parquet.compression-codec": "gzip",
        "write.parquet.compression-level": "4",
        "write.parquet.row-group-limit": "10",
        "write.parquet.bloom-filter-enabled.column.name": "true",
        "write.parquet.bloom-filter-enabled.column.day": "true",
    }
    state = state_of(tmp_path, properties=properties)
    rows = batch(id=list(range(25)), name=[str(n) for n in range(25)])
    [path] = paths_of(write(state, (1, 3), [rows]))
    footer = pq.read_metadata(path)
    assert [footer.row_group(index).num_rows for index in range(footer.num_row_groups)] == [9, 9, 7]
    column = footer.row_group(0).column(1)
    assert column.compression == "GZIP"
    assert column.has_dictionary_page
    assert not footer.row_group(0).column(0).has_dictionary_page


def test_bloom_filters_are_where_the_table_asks_for_them_and_find_what_is_there(
    tmp_path: Path, write: Write
) -> None:
    asked = ("id", "name", "amount", "place", "place.zip", "tags.element.tag", "nothing")
    properties = {f"write.parquet.bloom-filter-enabled.column.{column}": "true" for column in asked}
    # This is more than the number of rows, and more than Arrow's own counter can hold.
    properties |= {"write.parquet.bloom-filter-ndv.column.id": str(2**33)}
    state = state_of(tmp_path, properties=properties | {"write.parquet.row-group-limit": "60"})
    rows = batch(
        id=pa.array(range(0, 200, 2), pa.int64()),
        name=[f"n{number}" for number in range(100)],
        amount=[0.5] * 100,
        place=[{"city": "Ulm", "zip": number} for number in range(100)],
        tags=[[{"tag": "a"}]] * 100,
    )
    [path] = paths_of(write(state, (1, 3, 4, 5, 8), [rows]))
    footer = pq.read_metadata(path)
    for index in range(footer.num_row_groups):
        group = footer.row_group(index)
        columns = [group.column(number) for number in range(group.num_columns)]
        with_filter = {column.path_in_schema for column in columns if column.bloom_filter_offset is not None}
        # Floating-point columns and columns in lists get no bloom filter, and a struct is not a column.
        assert with_filter == {"id", "name", "place.zip"}

    def is_excluded(column: str, value: object) -> bool:
        with duckdb.connect() as connection:
            found = connection.execute(
                "SELECT bool_and(bloom_filter_excludes) FROM parquet_bloom_probe(?, ?, ?)",
                [str(path), column, value],
            ).fetchone()
        assert found is not None
        return bool(found[0])

    assert not any(is_excluded("id", number) for number in range(0, 200, 2))
    assert not any(is_excluded("name", f"n{number}") for number in range(100))
    # A bloom filter has about one false positive in a hundred values.
    assert sum(is_excluded("id", number) for number in range(1, 200, 2)) > 80
    assert sum(is_excluded("name", f"x{number}") for number in range(100)) > 80


def test_pages_have_no_more_rows_than_the_table_wants(tmp_path: Path, write: Write) -> None:
    properties = {"write.parquet.page-row-limit": "10"}
    [path] = paths_of(write(state_of(tmp_path, properties=properties), (1,), [numbers(25)]))
    with path.open("rb") as file:
        [[column]] = column_chunks(file, range(1), 1)
        assert [page.value_count for page in pages(file, column)] == [10, 10, 5]


@pytest.mark.parametrize("value", ["", "fast", "-1", "99999999999999999999"])
def test_properties_that_make_no_sense_count_as_not_set(tmp_path: Path, value: str, write: Write) -> None:
    names = (
        "compression-codec",
        "compression-level",
        "row-group-limit",
        "page-size-bytes",
        "page-row-limit",
        "dict-size-bytes",
    )
    properties = {f"write.parquet.{name}": value for name in names} | {"write.target-file-size-bytes": value}
    properties |= {"write.metadata.metrics.default": value}
    result = write(state_of(tmp_path, properties=properties), (1,), [numbers(3)])
    column = pq.read_metadata(paths_of(result)[0]).row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert json.loads(result.data_files[0])["record-count"] == 3


def test_batches_may_differ_in_types_that_fit_the_columns(tmp_path: Path, write: Write) -> None:
    batches = [batch(name=pa.array(["a"]), id=pa.array([1], pa.int8()))]
    batches += [batch(name=pa.array(["b"], pa.large_string()), id=pa.array([2], pa.int64()))]
    batches += [batch(name=pa.nulls(1), id=[3])]
    rows = rows_of(write(state_of(tmp_path), (3, 1), batches))
    assert rows == [[{"name": "a", "id": 1}, {"name": "b", "id": 2}, {"name": None, "id": 3}]]


@pytest.mark.parametrize("transform", ["void", "identity", "truncate[2]", "bucket[4]"])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_texts_with_short_and_with_long_offsets_are_the_same_files(
    tmp_path: Path, transform: str, is_sorted: bool, write: Write
) -> None:
    names = ["Bonn", None, "Köln", "Bern", "", "Bonn"] * 300
    state = state_of(tmp_path, spec=spec_of((3, transform, "p")))
    if is_sorted:
        state = replace(state, sort_order=order_of((3, *ASCENDING)))
    found = []
    for kind in (pa.string(), pa.large_string()):
        result = write(state, (3, 1), [batch(name=pa.array(names, kind), id=list(range(len(names))))])
        said = [json.loads(file) for file in result.data_files]
        paths = [file.pop("file-path") for file in said]
        found.append((said, [Path(path.removeprefix("file://")).read_bytes() for path in paths]))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "kinds", [(pa.string(), pa.large_string()), (pa.large_string(), pa.string())], ids=str
)
def test_a_file_goes_on_with_texts_that_have_other_offsets(
    tmp_path: Path, kinds: tuple[pa.DataType, ...], write: Write
) -> None:
    batches = [
        batch(name=pa.array([f"{number}"] * 40, kinds[number % 2]), id=[number] * 40) for number in range(8)
    ]
    result = write(state_of(tmp_path), (3, 1), batches, TINY)
    assert rows_of(result) == [[row for batch in batches for row in batch.to_pylist()]]
    assert pq.read_metadata(paths_of(result)[0]).num_row_groups > 1


def test_an_executor_needs_nothing_of_the_gateway_to_write() -> None:
    write = "service.adapters.data_files.writer.write"
    code = f"import sys, {write}; print(*{{module.split('.')[0] for module in sys.modules}})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not set(found.stdout.split()) & {
        "api",
        "spark_session",
        "fastapi",
        "sqlalchemy",
        "redis",
        "pyspark",
    }


def test_columns_of_nothing_fit_every_optional_type(tmp_path: Path, write: Write) -> None:
    rows = batch(id=[1, 2], place=pa.nulls(2), tags=pa.nulls(2), level=pa.nulls(2), day=pa.nulls(2))
    assert rows_of(write(state_of(tmp_path), (1, 5, 8, 11, 2), [rows])) == [rows.to_pylist()]
