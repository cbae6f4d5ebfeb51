"""Many targets are written at once, within shared bounds of memory and open files."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.data_files.writer.write_fan import write_fan
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from service.model.ingest.writing import Destination, TableKey, WritableTable
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName
from tests.unit.adapters.data_files.counted_files import NAME, CountedFileIO
from tests.unit.adapters.data_files.states import files_below, paths_of, rows_of, spec_of, state_of, target_of

TINY = WriteBounds(buffered_bytes=4000, open_files=3)
# All rows fit into the buffer, and three targets are written at once.
AT_ONCE = WriteBounds(open_files=3, writers=3)
EITHER = pytest.mark.parametrize("bounds", [TINY, AT_ONCE], ids=["little by little", "at once"])


def destination(folder: Path, *column_ids: int, is_partitioned: bool = False) -> Destination:
    spec = spec_of(*([(3, "identity", "name")] if is_partitioned else []))
    state = replace(state_of(folder, spec=spec), io_properties={"py-io-impl": NAME})
    key = TableKey(TableName("lake", "s", "t"))
    table = WritableTable(key, UUID(int=1), 2, TableSchema(3, ()), 0, (), (), state.encoded())
    return Destination(table, target_of(state, column_ids))


def named(ids: list[int]) -> pa.RecordBatch:
    return pa.record_batch({"id": pa.array(ids, pa.int64()), "name": [f"n{id_ % 5}" for id_ in ids]})


def only_ids(ids: list[int]) -> pa.RecordBatch:
    return pa.record_batch({"id": pa.array(ids, pa.int64())})


@EITHER
def test_however_they_come_all_rows_of_each_target_are_in_its_files_in_their_order(
    bounds: WriteBounds, tmp_path: Path
) -> None:
    plain, reverse = destination(tmp_path, 1), destination(tmp_path, 3, 1)
    numbers = iter(range(5000))
    rng = random.Random(7)
    rows = []
    while ids := [number for number, _ in zip(numbers, range(rng.randint(1, 60)), strict=False)]:
        rows.append(
            (plain, only_ids(ids)) if rng.random() < 0.5 else (reverse, named(ids).select(["name", "id"]))
        )
    results = {result.target: result for result in write_fan(rows, bounds)}
    for target in (plain, reverse):
        expected = [row for destination, batch in rows if destination is target for row in batch.to_pylist()]
        written = [row for file in rows_of(results[target.target]) for row in file]
        assert written == expected
        assert results[target.target].record_count == len(expected)


@EITHER
def test_each_table_has_its_files_in_its_own_place_and_as_its_own_properties_say(
    bounds: WriteBounds, tmp_path: Path
) -> None:
    rows, wanted = [], {}
    for name, codec in (("a", "gzip"), ("b", "snappy")):
        state = state_of(tmp_path / name, properties={"write.parquet.compression-codec": codec})
        key = TableKey(TableName("lake", "s", name))
        table = WritableTable(key, UUID(int=1), 2, TableSchema(3, ()), 0, (), (), state.encoded())
        target = replace(target_of(state, (1,)), key=key)
        rows += [(Destination(table, target), only_ids([number])) for number in range(2)]
        wanted[target] = (tmp_path / name, codec.upper())
    results = {result.target: result for result in write_fan(rows, bounds)}
    assert results.keys() == wanted.keys()
    for target, (folder, codec) in wanted.items():
        [path] = paths_of(results[target])
        assert path.is_relative_to(folder)
        assert pq.read_metadata(path).row_group(0).column(0).compression == codec
        assert rows_of(results[target]) == [[{"id": 0}, {"id": 1}]]


@EITHER
def test_files_that_are_open_at_once_are_bounded_over_all_targets(
    bounds: WriteBounds, tmp_path: Path
) -> None:
    layouts = ((1, 3), (3, 1), (1, 3, 4), (3, 1, 4))
    targets = [destination(tmp_path, *ids, is_partitioned=True) for ids in layouts]
    rows = [
        (target, pa.record_batch({name: _column(name, start) for name in _names(target)}))
        for start in range(0, 2000, 50)
        for target in targets
    ]
    results = write_fan(rows, bounds)
    assert sum(result.record_count for result in results) == 2000 * len(targets)
    assert (CountedFileIO.open_at_most, CountedFileIO.open_now) == (bounds.open_files, 0)


def _names(target: Destination) -> list[str]:
    names = {1: "id", 3: "name", 4: "amount"}
    return [names[column_id] for column_id in target.target.write_schema_column_ids or ()]


def _column(name: str, start: int) -> pa.Array:
    ids = list(range(start, start + 50))
    match name:
        case "id":
            return pa.array(ids, pa.int64())
        case "name":
            return pa.array([f"n{id_ % 5}" for id_ in ids])
        case _:
            return pa.array([float(id_) for id_ in ids])


@EITHER
def test_what_does_not_fit_leaves_no_file_of_any_target(bounds: WriteBounds, tmp_path: Path) -> None:
    good, other = destination(tmp_path, 1), destination(tmp_path, 3, 1)
    rows = [(good, only_ids(list(range(2000)))), (other, only_ids([1]))]
    with pytest.raises(RecordsInvalid):
        write_fan(rows, bounds)
    assert files_below(tmp_path) == []
    with pytest.raises(IngestInvalid):
        write_fan([(good, only_ids([1])), (destination(tmp_path, 99), only_ids([1]))], bounds)
    assert files_below(tmp_path) == []


def test_the_first_of_many_targets_that_fails_leaves_no_file_of_the_others(tmp_path: Path) -> None:
    where = [destination(tmp_path, *ids) for ids in ((1,), (3, 1), (1, 3), (1, 4), (4, 1))]
    rows = [
        (destination, pa.record_batch({n: _column(n, 0) for n in _names(destination)}))
        for destination in where
    ]
    rows.insert(2, (destination(tmp_path, 4), pa.record_batch({"amount": ["no number"]})))
    with pytest.raises(RecordsInvalid):
        write_fan(rows, AT_ONCE)
    assert files_below(tmp_path) == []


def upserted(where: Destination) -> Destination:
    return replace(where, target=replace(where.target, is_upsert=True, equality_field_ids=(1,)))


def on_a_branch(where: Destination) -> Destination:
    return replace(where, target=replace(where.target, key=replace(where.target.key, branch="audit")))


@EITHER
def test_rows_around_an_upsert_are_results_of_their_own_in_the_order_in_which_they_count(
    bounds: WriteBounds, tmp_path: Path
) -> None:
    plain, upsert = destination(tmp_path, 1), upserted(destination(tmp_path, 1))
    elsewhere, other = on_a_branch(plain), upserted(destination(tmp_path, 1, 3))
    sent = (plain, elsewhere, plain, upsert, upsert, plain, elsewhere, other, upsert)
    rows = [
        (where, named([turn]).select(["id", "name"][: len(where.target.write_schema_column_ids or ())]))
        for turn, where in enumerate(sent)
    ]
    results = write_fan(rows, bounds)
    expected = [
        (plain, {0, 2}),
        (elsewhere, {1, 6}),
        (upsert, {3, 4}),
        (plain, {5}),
        (other, {7}),
        (upsert, {8}),
    ]
    assert [result.target for result in results] == [where.target for where, _ in expected]
    found = [{row["id"] for file in rows_of(result) for row in file} for result in results]
    assert found == [ids for _, ids in expected]


@EITHER
def test_of_upserts_the_last_row_of_each_key_is_written_however_the_rows_come(
    bounds: WriteBounds, tmp_path: Path
) -> None:
    plain, upsert = destination(tmp_path, 1), upserted(on_a_branch(destination(tmp_path, 1, 3)))
    rows = []
    for turn in range(40):
        rows.append((plain, only_ids(list(range(20)))))
        batch = pa.record_batch({"id": list(range(20)), "name": [f"{turn}-{n}" for n in range(20)]})
        rows.append((upsert, batch))
    results = {result.target: result for result in write_fan(rows, bounds)}
    assert results[plain.target].record_count == 800
    found = results[upsert.target]
    assert (found.record_count, len(found.delete_files)) == (20, 1)
    assert [row["name"] for file in rows_of(found) for row in file] == [f"39-{n}" for n in range(20)]


def test_what_all_upserts_of_a_request_keep_is_bounded_together(tmp_path: Path) -> None:
    bounds = replace(TINY, upsert_bytes=10_000)
    targets = [upserted(destination(tmp_path, *ids)) for ids in ((1, 3), (3, 1), (1, 3, 4))]

    def rows(where: Destination) -> pa.RecordBatch:
        ids = list(range(300))
        columns = {"id": pa.array(ids, pa.int64()), "name": ["n"] * 300, "amount": [1.0] * 300}
        names = {1: "id", 3: "name", 4: "amount"}
        return pa.record_batch(
            {
                names[column_id]: columns[names[column_id]]
                for column_id in where.target.write_schema_column_ids or ()
            }
        )

    assert len(write_fan([(targets[0], rows(targets[0]))], bounds)) == 1
    for file in files_below(tmp_path):
        file.unlink()
    with pytest.raises(IngestInvalid, match="several requests"):
        write_fan([(target, rows(target)) for target in targets], bounds)
    assert files_below(tmp_path) == []
