"""Files of upserts: the last row of each key, and deletes of the earlier rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DecimalType,
    FixedType,
    IcebergType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
    UUIDType,
)

from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from service.model.ingest.record_deletes import DELETE_MARK
from service.model.ingest.writing import WriteResult
from tests.unit.adapters.data_files.states import (
    files_below,
    order_of,
    rows_of,
    spec_of,
    state_of,
    target_of,
)
from tests.unit.adapters.data_files.writers import Upsert

TINY = WriteBounds(buffered_bytes=2000, open_files=2)
DAYS = [date(2026, 1, 1), date(2026, 1, 2)]


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.record_batch(columns)


def deletes(result: WriteResult) -> list[dict[str, Any]]:
    return [json.loads(file) for file in result.delete_files]


def deleted_rows(result: WriteResult) -> list[dict[str, Any]]:
    paths = [delete["file-path"].removeprefix("file://") for delete in deletes(result)]
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def values(result: WriteResult, name: str) -> list[Any]:
    return [row[name] for rows in rows_of(result) for row in rows]


def test_an_upsert_has_its_rows_and_a_file_of_their_keys(tmp_path: Path, upsert: Upsert) -> None:
    state = state_of(tmp_path)
    result = upsert(state, (1,), batch(name=["a", "b"], id=[1, 2]), columns=(3, 1))
    assert rows_of(result) == [[{"name": "a", "id": 1}, {"name": "b", "id": 2}]]
    [delete] = deletes(result)
    assert (delete["content"], delete["equality-ids"]) == ("equality-deletes", [1])
    assert (delete["record-count"], delete["spec-id"], delete["sort-order-id"]) == (2, 0, 0)
    schema = pq.read_schema(delete["file-path"].removeprefix("file://"))
    assert schema.names == ["id"]
    assert schema.field("id").metadata[b"PARQUET:field_id"] == b"1"
    assert deleted_rows(result) == [{"id": 1}, {"id": 2}]
    assert result.record_count == 2


def test_metrics_of_deletes_tell_of_their_keys_and_of_no_other_column(tmp_path: Path, upsert: Upsert) -> None:
    result = upsert(state_of(tmp_path), (1, 3), batch(id=[3, 7], name=["a", None]), columns=(1, 3))
    [delete] = deletes(result)
    assert dict(zip(*delete["value-counts"].values(), strict=True)) == {1: 2, 3: 2}
    assert dict(zip(*delete["null-value-counts"].values(), strict=True)) == {1: 0, 3: 1}
    bounds = dict(zip(*delete["lower-bounds"].values(), strict=True))
    assert bounds[1] == (3).to_bytes(8, "little").hex()


def test_of_a_key_that_comes_more_than_once_the_last_row_is_written(tmp_path: Path, upsert: Upsert) -> None:
    rows = batch(id=[1, 2, 1, 3, 1], name=["a", "b", "c", "d", "e"])
    result = upsert(state_of(tmp_path), (1,), rows, columns=(1, 3))
    assert rows_of(result) == [[{"id": 2, "name": "b"}, {"id": 3, "name": "d"}, {"id": 1, "name": "e"}]]
    assert deleted_rows(result) == [{"id": 2}, {"id": 3}, {"id": 1}]


def test_the_last_row_wins_across_batches_and_buffers(tmp_path: Path, upsert: Upsert) -> None:
    batches = [batch(id=list(range(100)), name=[f"{turn}-{n}" for n in range(100)]) for turn in range(5)]
    result = upsert(state_of(tmp_path), (1,), *batches, columns=(1, 3), bounds=TINY)
    assert sorted(values(result, "name")) == sorted(f"4-{n}" for n in range(100))
    assert len(deleted_rows(result)) == 100


def marked(marks: Sequence[bool], **columns: Any) -> pa.RecordBatch:
    return pa.record_batch({**columns, DELETE_MARK: list(marks)})


def test_a_key_whose_last_row_is_marked_is_only_deleted(tmp_path: Path, upsert: Upsert) -> None:
    rows = marked([False, True, True, False, True], id=[1, 2, 1, 2, 3], name=["a", None, None, "b", None])
    result = upsert(state_of(tmp_path), (1,), rows, columns=(1, 3))
    assert rows_of(result) == [[{"id": 2, "name": "b"}]]
    assert sorted(row["id"] for row in deleted_rows(result)) == [1, 2, 3]
    assert (result.record_count, result.delete_count) == (1, 2)


@pytest.mark.parametrize("bounds", [None, TINY], ids=["at once", "little by little"])
def test_marked_and_other_batches_are_applied_in_their_order(
    tmp_path: Path, upsert: Upsert, bounds: WriteBounds | None
) -> None:
    ids = list(range(100))
    batches = [
        marked([True] * 100, id=ids),
        batch(id=ids),
        marked([number % 2 == 0 for number in ids], id=ids),
        batch(id=[0, 4]),
        marked([True], id=[4]),
    ]
    result = upsert(state_of(tmp_path), (1,), *batches, columns=(1,), bounds=bounds)
    assert sorted(values(result, "id")) == sorted([0, *range(1, 100, 2)])
    assert (result.record_count, result.delete_count, len(deleted_rows(result))) == (51, 49, 100)


def test_a_row_that_is_only_deleted_needs_no_required_values(tmp_path: Path, upsert: Upsert) -> None:
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "n", LongType(), required=True))
    state, keys = state_of(tmp_path, schema=schema), pa.array([1, None], pa.int64())
    result = upsert(state, (1,), marked([True, True], id=keys, n=pa.nulls(2, pa.int64())), columns=(1, 2))
    assert (result.data_files, result.record_count, result.delete_count) == ((), 0, 2)
    with pytest.raises(RecordsInvalid, match="required column n"):
        upsert(state, (1,), marked([True, False], id=keys, n=pa.nulls(2, pa.int64())), columns=(1, 2))


def test_deleted_keys_count_towards_the_memory_that_an_upsert_may_take(
    tmp_path: Path, upsert: Upsert
) -> None:
    bounds = WriteBounds(buffered_bytes=2000, upsert_bytes=4000)
    keys = [marked([True] * 100, id=list(range(start, start + 100))) for start in range(0, 1000, 100)]
    with pytest.raises(IngestInvalid, match="several requests"):
        upsert(state_of(tmp_path), (1,), *keys, columns=(1,), bounds=bounds)
    assert files_below(tmp_path) == []


def test_without_a_value_is_a_key_too(tmp_path: Path, upsert: Upsert) -> None:
    rows = batch(id=[1, 2, 3, 4], name=[None, "", None, "x"])
    result = upsert(state_of(tmp_path), (3,), rows, columns=(1, 3))
    assert values(result, "id") == [2, 3, 4]
    assert deleted_rows(result) == [{"name": ""}, {"name": None}, {"name": "x"}]


def test_two_fields_are_one_key_together(tmp_path: Path, upsert: Upsert) -> None:
    rows = batch(id=[1, 1, 2, 1], name=["a", "b", "a", "a"], day=[*DAYS, *DAYS])
    result = upsert(state_of(tmp_path), (1, 3), rows, columns=(1, 3, 2))
    assert [(row["id"], row["name"], row["day"]) for row in rows_of(result)[0]] == [
        (1, "b", DAYS[1]),
        (2, "a", DAYS[0]),
        (1, "a", DAYS[1]),
    ]


def test_deletes_lie_in_the_partitions_of_their_rows(tmp_path: Path, upsert: Upsert) -> None:
    state = state_of(tmp_path, spec=spec_of((2, "identity", "day"), (1, "bucket[4]", "part")))
    rows = batch(id=[1, 2, 3, 1], day=[*DAYS, None, DAYS[0]], name=["a", "b", "c", "d"])
    result = upsert(state, (1, 2), rows, columns=(1, 2, 3))
    data = {json.dumps(json.loads(file)["partition"]) for file in result.data_files}
    assert data == {json.dumps(delete["partition"]) for delete in deletes(result)}
    assert len(data) == 3
    assert {delete["spec-id"] for delete in deletes(result)} == {4}
    assert sorted(values(result, "name")) == ["b", "c", "d"]


def test_rows_of_a_sorted_table_are_sorted_and_their_keys_are_not_said_to_be(
    tmp_path: Path, upsert: Upsert
) -> None:
    order = order_of((3, SortDirection.DESC, NullOrder.NULLS_LAST))
    result = upsert(state_of(tmp_path, order=order), (1,), batch(id=[1, 2], name=["a", "b"]), columns=(1, 3))
    assert values(result, "name") == ["b", "a"]
    assert json.loads(result.data_files[0])["sort-order-id"] == 5
    assert deletes(result)[0]["sort-order-id"] == 0


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        (BooleanType(), pa.array([True, False, True, None, None])),
        (LongType(), pa.array([1, 2, 1, None, None])),
        (DecimalType(9, 2), pa.array([Decimal("1.00"), Decimal("2.00"), Decimal("1.00"), None, None])),
        (StringType(), pa.array(["é", "e", "é", None, None])),
        (BinaryType(), pa.array([b"a", b"", b"a", None, None])),
        (FixedType(2), pa.array([b"aa", b"bb", b"aa", None, None], pa.binary(2))),
        (
            UUIDType(),
            pa.array([UUID(int=1).bytes, UUID(int=2).bytes, UUID(int=1).bytes, None, None], pa.binary(16)),
        ),
        (TimestamptzType(), pa.array([1, 2, 1, None, None], pa.timestamp("us", "UTC"))),
    ],
    ids=str,
)
def test_keys_may_have_any_type_whose_values_are_equal_or_not(
    tmp_path: Path, kind: IcebergType, array: pa.Array, upsert: Upsert
) -> None:
    schema = Schema(NestedField(1, "key", kind), NestedField(2, "n", LongType()))
    result = upsert(
        state_of(tmp_path, schema=schema), (1,), batch(key=array, n=[0, 1, 2, 3, 4]), columns=(1, 2)
    )
    assert values(result, "n") == [1, 2, 4]
    assert len(deleted_rows(result)) == 3
    # The third one deletes the key of the first, and the fourth is the last of all without a value.
    parts = [
        marked([False, False, True], key=array[:3], n=[0, 1, 2]),
        marked([True], key=array[:1], n=[3]),
        batch(key=array[4:], n=[4]),
        marked([True], key=array[3:4], n=[5]),
    ]
    for bounds in (None, TINY):
        gone = upsert(state_of(tmp_path, schema=schema), (1,), *parts, columns=(1, 2), bounds=bounds)
        assert (values(gone, "n"), gone.record_count, gone.delete_count) == ([1], 1, 2)
        assert len(deleted_rows(gone)) == 3


@pytest.mark.parametrize(
    "keys",
    [(), (4,), (5,), (7,), (10,), (99,)],
    ids=["none", "double", "struct", "in-a-struct", "in-a-list", "no"],
)
def test_what_cannot_tell_rows_apart_is_refused(tmp_path: Path, keys: Sequence[int], upsert: Upsert) -> None:
    with pytest.raises(IngestInvalid):
        upsert(state_of(tmp_path), tuple(keys), batch(id=[1], amount=[1.0]), columns=(1, 4))
    assert files_below(tmp_path) == []


def test_more_rows_than_memory_may_hold_are_refused_and_leave_nothing(tmp_path: Path, upsert: Upsert) -> None:
    bounds = WriteBounds(buffered_bytes=2000, upsert_bytes=4000)
    rows = [batch(id=list(range(start, start + 100))) for start in range(0, 1000, 100)]
    with pytest.raises(IngestInvalid, match="several requests"):
        upsert(state_of(tmp_path), (1,), *rows, columns=(1,), bounds=bounds)
    assert files_below(tmp_path) == []
    again = [rows[0]] * 10
    assert upsert(state_of(tmp_path), (1,), *again, columns=(1,), bounds=bounds).record_count == 100


def test_an_upsert_that_fails_leaves_neither_rows_nor_deletes(tmp_path: Path, upsert: Upsert) -> None:
    state = state_of(tmp_path, spec=spec_of((1, "identity", "id"), (3, "truncate[1]", "first")))
    rows = [batch(id=[1], name=["a"]), batch(id=pa.array([None], pa.int64()), name=["b"])]
    with pytest.raises(RecordsInvalid):
        upsert(state, (1, 3), *rows, columns=(1, 3))
    assert files_below(tmp_path) == []


def test_an_upsert_without_rows_writes_nothing(tmp_path: Path, upsert: Upsert) -> None:
    result = upsert(state_of(tmp_path), (1,), columns=(1,))
    assert (result.data_files, result.delete_files, files_below(tmp_path)) == ((), (), [])


def test_rows_of_an_upsert_are_never_written_without_their_deletes(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    target = replace(target_of(state, (1,)), is_upsert=True, equality_field_ids=(1,))
    with pytest.raises(IngestInvalid, match="without its deletes"):
        FilePlan.of(state, target)
