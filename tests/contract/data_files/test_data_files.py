"""The contract of `DataFiles`, for every implementation."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
import pytest

from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Destination, WriteTarget
from tests.contract.data_files.storages import Storage


def target(storage: Storage, *column_ids: int) -> WriteTarget:
    return WriteTarget(storage.table.key, 0, 0, write_schema_column_ids=column_ids)


def batch(*rows: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows))


def test_rows_of_all_batches_are_in_files_with_the_columns_of_the_target(storage: Storage) -> None:
    first, second = batch({"name": "a", "id": 1}), batch({"name": None, "id": 2}, {"name": "c", "id": 3})
    storage.data_files.write(storage.table, target(storage, 2, 1), [first, second])
    rows = [row for file in storage.files().values() for row in file]
    assert rows == first.to_pylist() + second.to_pylist()
    assert [list(row) for row in rows] == [["name", "id"]] * 3


def test_the_result_has_each_file_in_icebergs_json_and_counts_them(storage: Storage) -> None:
    wanted = target(storage, 1)
    result = storage.data_files.write(storage.table, wanted, [batch({"id": 1}, {"id": 2})])
    files = [json.loads(file) for file in result.data_files]
    assert {file["file-path"] for file in files} == set(storage.files())
    assert sum(file["record-count"] for file in files) == result.record_count == 2
    assert sum(file["file-size-in-bytes"] for file in files) == result.byte_count > 0
    assert (result.target, result.delete_files) == (wanted, ())


def test_without_rows_there_are_no_files(storage: Storage) -> None:
    result = storage.data_files.write(storage.table, target(storage, 1), [])
    assert (result.data_files, result.record_count, result.byte_count) == ((), 0, 0)
    assert not storage.files()


def test_two_writes_share_no_file(storage: Storage) -> None:
    results = [storage.data_files.write(storage.table, target(storage, 1), [batch({"id": 1})]) for _ in "ab"]
    assert len(storage.files()) == sum(len(result.data_files) for result in results) == 2


def test_when_the_rows_end_in_an_error_no_file_is_left(storage: Storage) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield batch({"id": 1})
        raise LookupError

    with pytest.raises(LookupError):
        storage.data_files.write(storage.table, target(storage, 1), batches())
    assert not storage.files()


def test_discarded_files_are_gone_and_the_others_stay(storage: Storage) -> None:
    expected = storage.data_files.write(storage.table, target(storage, 1), [batch({"id": 1})])
    dropped = storage.data_files.write(storage.table, target(storage, 1), [batch({"id": 2})])
    storage.data_files.discard(storage.table, dropped)
    assert set(storage.files()) == {json.loads(file)["file-path"] for file in expected.data_files}
    storage.data_files.discard(storage.table, dropped)


def test_a_storage_that_takes_nothing_is_reported(storage: Storage) -> None:
    storage.take_down()
    with pytest.raises(StorageDown, match=r"lake\.s\.t"):
        storage.data_files.write(storage.table, target(storage, 1), [batch({"id": 1})])


def test_rows_of_many_targets_have_files_of_their_own_in_the_order_that_they_came(storage: Storage) -> None:
    first, second = (Destination(storage.table, target(storage, *ids)) for ids in ((1,), (2, 1)))
    rows = [
        (first, batch({"id": 1})),
        (second, batch({"name": "a", "id": 2})),
        (first, batch({"id": 3}, {"id": 4})),
    ]
    results = storage.data_files.write_all(rows)
    assert {result.target: result.record_count for result in results} == {first.target: 3, second.target: 1}
    files = storage.files()
    written = {
        result.target: [files[json.loads(file)["file-path"]] for file in result.data_files]
        for result in results
    }
    assert [row["id"] for rows in written[first.target] for row in rows] == [1, 3, 4]
    assert [row for rows in written[second.target] for row in rows] == [{"name": "a", "id": 2}]


def test_targets_without_rows_have_no_result(storage: Storage) -> None:
    assert storage.data_files.write_all([]) == []
    assert not storage.files()


def test_when_the_rows_of_many_targets_end_in_an_error_no_file_is_left(storage: Storage) -> None:
    def rows() -> Iterator[tuple[Destination, pa.RecordBatch]]:
        yield Destination(storage.table, target(storage, 1)), batch({"id": 1})
        yield Destination(storage.table, target(storage, 2, 1)), batch({"name": "a", "id": 1})
        raise LookupError

    with pytest.raises(LookupError):
        storage.data_files.write_all(rows())
    assert not storage.files()


def test_a_storage_that_is_down_is_reported_for_many_targets_too(storage: Storage) -> None:
    storage.take_down()
    with pytest.raises(StorageDown):
        storage.data_files.write_all([(Destination(storage.table, target(storage, 1)), batch({"id": 1}))])
