"""Rounds of records with an order, compared with a plain model of their keys."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, TimeType

from service.adapters.commits.live_files import LiveFiles
from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.needed_deletes import NeededDeletes
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.superseding.without_late import LateFilter
from service.adapters.commits.superseding.without_superseded import WithoutSuperseded
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.metrics.content_files import data_file, locations_of
from service.adapters.data_files.read_back.uncommitted_rows import written_batches
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import not_synced, path_on_disk
from service.errors.ingest_errors import UpsertNotPossible
from service.errors.unavailable import StorageDown
from service.model.ingest.record_deletes import DELETE_MARK
from service.model.ingest.writing import Committable, TableKey, WriteResult
from service.model.tables.tables import TableName
from tests.contract.catalogs.plain_data_files import target_of
from tests.fakes.stored_orders import FakeStoredOrders

KEY = TableKey(TableName("lake", "game", "logs"))
NAMES = ("a", "b", "c", "note")
KINDS = (pa.int64(), pa.int32(), pa.string(), pa.string())
# The fields of the key, and the column of the order: numbers of columns.
SHAPES = (((1,), 2), ((1,), 3), ((1, 2), 3), ((3,), 1))
Row = tuple[Any, Any, Any, Any]
Entry = tuple[Row, bool]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlCatalog]:
    folder = tmp_path_factory.mktemp("late")
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": folder.as_uri()}
    with closing(SqlCatalog("lake", **properties)) as made:
        made.create_namespace("game")
        yield made


def created(catalog: SqlCatalog) -> Table:
    schema = Schema(
        NestedField(1, "a", LongType()),
        NestedField(2, "b", IntegerType()),
        NestedField(3, "c", StringType()),
        NestedField(4, "note", StringType()),
    )
    return catalog.create_table(f"game.t_{uuid4().hex}", schema, properties={"format-version": "2"})


def written(
    table: Table, entries: Sequence[Entry], keys: tuple[int, ...] = (), order: int | None = None
) -> WriteResult:
    target = replace(
        target_of(table, KEY, None),
        is_upsert=bool(keys),
        equality_field_ids=keys,
        order_field_id=order,
    )
    arrays = [pa.array([row[place] for row, _ in entries], KINDS[place]) for place in range(4)]
    names = list(NAMES)
    if keys:
        arrays.append(pa.array([is_delete for _, is_delete in entries]))
        names.append(DELETE_MARK)
    batch = pa.record_batch(arrays, names=names)
    batches = [batch.slice(start, 2) for start in range(0, batch.num_rows, 2)]
    return write_data_files(writer_state(table), target, batches, WriteBounds())


def appended(table: Table, rows: Sequence[Row]) -> None:
    result = written(table, [(row, False) for row in rows])
    committable = Committable(KEY, uuid4(), (uuid4(),), (result,))
    SnapshotAppend.prepare(table, committable, data_file, ManifestLists(not_synced)).publish()
    table.refresh()


def late_filter(stored: FakeStoredOrders, keys_at_once: int = 1_000) -> LateFilter:
    return LateFilter(NeededDeletes(LiveFiles(1_000)), stored, not_synced, keys_at_once)


def contents(table: Table, files: Sequence[str], columns: Sequence[int]) -> list[tuple[Any, ...]]:
    wanted = table.schema().select(*(NAMES[column - 1] for column in columns))
    batches = written_batches(writer_state(table), wanted, files, "t")
    rows = [
        tuple(row[NAMES[column - 1]] for column in columns) for each in batches for row in each.to_pylist()
    ]
    return sorted(rows, key=repr)


def greater(one: Any, other: Any) -> bool:
    """Whether an order is greater than another; None is below all."""
    return one is not None and (other is None or one > other)


class Model:
    """The effect of a round, computed record by record. `stored` is the greatest order of each key."""

    def __init__(self, keys: tuple[int, ...], order: int, stored: Sequence[Row]) -> None:
        self._keys, self._order = keys, order
        self.stored: dict[tuple[Any, ...], Any] = {}
        for row in stored:
            key, value = self.key(row), row[order - 1]
            if key not in self.stored or greater(value, self.stored[key]):
                self.stored[key] = value

    def key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[column - 1] for column in self._keys)

    def winners(self, entries: Sequence[Entry]) -> Mapping[tuple[Any, ...], Entry]:
        found: dict[tuple[Any, ...], Entry] = {}
        for entry in entries:
            key, before = self.key(entry[0]), found.get(self.key(entry[0]))
            if before is None or not greater(before[0][self._order - 1], entry[0][self._order - 1]):
                found[key] = entry
        return found

    def is_late(self, row: Row) -> bool:
        return greater(self.stored.get(self.key(row)), row[self._order - 1])

    def left(self, requests: Sequence[Sequence[Entry]]) -> tuple[list[Row], set[tuple[Any, ...]], list[int]]:
        """Returns the rows to add, the keys to delete, and the late records of each request."""
        own = [self.winners(entries) for entries in requests]
        every = self.winners([entry for found in own for entry in found.values()])
        kept = {key: entry for key, entry in every.items() if not self.is_late(entry[0])}
        rows = [row for row, is_delete in kept.values() if not is_delete]
        highest, late = dict(self.stored), []
        for found in own:
            late.append(
                sum(greater(highest.get(key), row[self._order - 1]) for key, (row, _) in found.items())
            )
            for key, (row, _) in found.items():
                if key not in highest or greater(row[self._order - 1], highest[key]):
                    highest[key] = row[self._order - 1]
        return sorted(rows, key=repr), set(kept), late


def some_row(chosen: random.Random, note: str) -> Row:
    values = ([None, 1, 2, 3], [None, 1, 2, 3], [None, "", "a", "B", "é", "a text that is longer"])
    a, b, c = (chosen.choice(options) for options in values)
    return (a, b, c, note)


@pytest.mark.parametrize("seed", range(24))
def test_a_round_leaves_the_greatest_order_of_each_key(catalog: SqlCatalog, seed: int) -> None:
    chosen = random.Random(seed)
    table = created(catalog)
    keys, order = chosen.choice(SHAPES)
    if 2 in keys and chosen.random() < 0.5:
        with table.update_spec() as change:
            change.add_field("b", BucketTransform(2), "part")
    stored = [some_row(chosen, f"stored.{number}") for number in range(chosen.choice([0, 1, 4, 8]))]
    for start in range(0, len(stored), 3):
        appended(table, stored[start : start + 3])
    requests = [
        [
            (some_row(chosen, f"{number}.{place}"), chosen.random() < 0.3)
            for place in range(chosen.randint(1, 5))
        ]
        for number in range(chosen.randint(1, 4))
    ]
    results = tuple(written(table, entries, keys, order) for entries in requests)
    committable = Committable(KEY, uuid4(), tuple(uuid4() for _ in results), results)
    stored_orders = FakeStoredOrders(lambda: table)
    without = late_filter(stored_orders, chosen.choice([1, 2, 1_000])).without_late(table, committable)
    left = without.committable
    rows, deleted, late = Model(keys, order, stored).left(requests)
    data_files = [file for result in left.write_results for file in result.data_files]
    deletes = [file for result in left.write_results for file in result.delete_files]
    assert contents(table, data_files, (1, 2, 3, 4)) == rows
    assert set(contents(table, deletes, keys)) == deleted
    assert list(left.late_counts or [0] * len(requests)) == late
    assert sum(result.record_count for result in left.write_results) == len(rows)
    check_files(table, committable, without)


def check_files(table: Table, before: Committable, without: WithoutSuperseded) -> None:
    """Checks that exactly the files that are neither sent nor committed any more are named as such."""
    sent, kept = files_of(before), files_of(without.committable)
    assert (set(without.written), set(without.left_out)) == (kept - sent, sent - kept)
    without.discard(table.io)
    assert all(on_disk(file) for file in sent)
    assert not any(on_disk(file) for file in without.written)


def files_of(committable: Committable) -> set[str]:
    return {file for one in committable.write_results for file in (*one.data_files, *one.delete_files)}


def on_disk(file: str) -> bool:
    [location] = locations_of([file])
    path = path_on_disk(location)
    return path is not None and path.exists()


def test_keys_that_no_file_can_hold_are_not_asked_for(catalog: SqlCatalog) -> None:
    table = created(catalog)
    appended(table, [(1, 5, None, "old"), (2, 5, None, "old")])
    stored = FakeStoredOrders(lambda: table)
    for entries in ([((7, 1, None, "new"), False)], [((2, 1, None, "late"), False)]):
        result = written(table, entries, (1,), 2)
        late_filter(stored).without_late(table, Committable(KEY, uuid4(), (uuid4(),), (result,)))
    assert [query.keys.to_pylist() for query in stored.asked] == [[{"key_0": 2}]]


def test_a_key_that_was_renamed_since_the_snapshot_has_no_current_name(catalog: SqlCatalog) -> None:
    """Iceberg would project a condition on it to the partitions of the column that has the name now."""
    table = created(catalog)
    appended(table, [(1, 5, None, "old")])
    result = written(table, [((1, 1, None, "late"), False)], (1,), 2)
    stored = FakeStoredOrders(lambda: table)
    committable = Committable(KEY, uuid4(), (uuid4(),), (result,))
    late_filter(stored).without_late(table, committable)
    with table.update_schema() as change:
        change.rename_column("a", "id")
    late_filter(stored).without_late(table, committable)
    assert [(query.key_columns, query.has_current_names) for query in stored.asked] == [
        (("a",), True),
        (("a",), False),
    ]


def test_rows_from_before_the_order_existed_have_none(catalog: SqlCatalog) -> None:
    table = created(catalog)
    appended(table, [(1, 9, "z", "old")])
    with table.update_schema() as change:
        change.rename_column("a", "id")
        change.add_column("at", LongType())
    stored = FakeStoredOrders(lambda: table)
    target = replace(target_of(table, KEY, None), is_upsert=True, equality_field_ids=(1,), order_field_id=5)
    batch = pa.record_batch(
        [
            pa.array([1], pa.int64()),
            *(pa.array([None], kind) for kind in KINDS[1:]),
            pa.array([3], pa.int64()),
        ],
        names=["id", "b", "c", "note", "at"],
    )
    result = write_data_files(writer_state(table), target, [batch], WriteBounds())
    committable = Committable(KEY, uuid4(), (uuid4(),), (result,))
    assert late_filter(stored).without_late(table, committable).committable == committable
    assert stored.asked == []


def test_a_snapshot_that_spark_cannot_read_refuses_the_round(catalog: SqlCatalog) -> None:
    """It would wait for ever: the request was accepted while the table had no such column."""
    table = created(catalog)
    with table.update_schema() as change:
        change.add_column("clock", TimeType())
    table.append(pa.table({"a": [1], "b": pa.array([9], pa.int32())}))
    table.refresh()
    with table.update_schema() as change:
        change.delete_column("clock")
    stored = FakeStoredOrders(lambda: table)
    result = written(table, [((1, 8, "z", "late"), False)], (1,), 2)
    committable = Committable(KEY, uuid4(), (uuid4(),), (result,))
    with pytest.raises(UpsertNotPossible, match="clock"):
        late_filter(stored).without_late(table, committable)
    assert stored.asked == []


def test_many_bytes_of_keys_are_asked_for_in_pieces(catalog: SqlCatalog) -> None:
    table = created(catalog)
    appended(table, [(number, 5, None, "old") for number in range(20)])
    stored = FakeStoredOrders(lambda: table)
    entries = [((number, 4 if number % 2 else 6, None, "new"), False) for number in range(20)]
    committable = Committable(KEY, uuid4(), (uuid4(),), (written(table, entries, (1,), 2),))
    without = replace(late_filter(stored), asked_bytes=64).without_late(table, committable)
    assert len(stored.asked) > 1
    [result] = without.committable.write_results
    assert contents(table, result.data_files, (1,)) == sorted(
        [(number,) for number in range(0, 20, 2)], key=repr
    )
    assert without.committable.late_counts == (10,)


def test_a_round_that_cannot_be_made_leaves_no_files(catalog: SqlCatalog) -> None:
    table = created(catalog)
    appended(table, [(1, 5, None, "old")])

    def full(_: object) -> None:
        raise OSError("no space")

    result = written(table, [((1, 1, None, "late"), False), ((2, 1, None, "new"), False)], (1,), 2)
    committable = Committable(KEY, uuid4(), (uuid4(),), (result,))
    before = data_files_below(table)
    late = replace(late_filter(FakeStoredOrders(lambda: table)), sync=full)
    with pytest.raises(StorageDown):
        late.without_late(table, committable)
    assert data_files_below(table) == before


def data_files_below(table: Table) -> set[str]:
    folder = path_on_disk(table.location())
    assert folder is not None
    return {str(path) for path in (folder / "data").rglob("*.parquet")}
