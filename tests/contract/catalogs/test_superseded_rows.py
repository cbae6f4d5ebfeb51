"""Rows of a round that a later upsert in it replaces, compared with applying the writes one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, UUIDType

from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.superseding.superseded_rows import superseded_rows
from service.adapters.commits.superseding.without_superseded import without_superseded
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.metrics.content_files import data_file, locations_of
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import not_synced
from service.errors.ingest_errors import CommittableUnreadable, WrittenFileMissing
from service.errors.unavailable import StorageDown
from service.model.ingest.record_deletes import DELETE_MARK
from service.model.ingest.writing import Committable, TableKey, WriteResult
from service.model.tables.tables import TableName
from tests.contract.catalogs.plain_data_files import target_of

KEY = TableKey(TableName("lake", "game", "logs"))
NAMES = ("a", "b", "c", "note")
KINDS = (pa.int64(), pa.int32(), pa.string(), pa.string())
# Each write schema, with the equality fields that it can have.
COLUMNS: tuple[tuple[tuple[int, ...] | None, tuple[tuple[int, ...], ...]], ...] = (
    (None, ((1,), (1, 2), (2, 3), (1, 2, 3))),
    ((4, 1), ((1,),)),
    ((2, 1, 4), ((1,), (2,), (1, 2))),
    ((3, 4, 2), ((2,), (3,), (2, 3))),
    ((4, 3), ((3,),)),
)
Row = tuple[Any, ...]
SPECS: tuple[tuple[int, Transform[Any, Any]] | None, ...] = (
    None,
    (2, IdentityTransform()),
    (2, BucketTransform(2)),
)


@dataclass(frozen=True, slots=True)
class Sent:
    """One write: an upsert, or an append if it has no keys. In its rows, columns not written are None.

    The rows of an upsert at the places `deletes` only delete their keys; None: its rows are not marked.
    """

    columns: tuple[int, ...] | None
    keys: tuple[int, ...]
    rows: tuple[Row, ...]
    deletes: frozenset[int] | None = None

    def is_delete(self, place: int) -> bool:
        return self.deletes is not None and place in self.deletes


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlCatalog]:
    folder = tmp_path_factory.mktemp("superseded")
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": folder.as_uri()}
    with closing(SqlCatalog("lake", **properties)) as made:
        made.create_namespace("game")
        yield made


def created(catalog: SqlCatalog, *, sorted_by: int | None = None, **properties: str) -> Table:
    schema = Schema(
        NestedField(1, "a", LongType()),
        NestedField(2, "b", IntegerType()),
        NestedField(3, "c", StringType()),
        NestedField(4, "note", StringType()),
    )
    order = SortOrder() if sorted_by is None else SortOrder(SortField(sorted_by, IdentityTransform()))
    name = f"game.t_{uuid4().hex}"
    return catalog.create_table(name, schema, sort_order=order, properties=properties)


def written(table: Table, sent: Sent, bounds: WriteBounds | None = None) -> WriteResult:
    target = replace(
        target_of(table, KEY, sent.columns), is_upsert=bool(sent.keys), equality_field_ids=sent.keys
    )
    places = [column - 1 for column in sent.columns or (1, 2, 3, 4)]
    arrays = [pa.array([row[place] for row in sent.rows], KINDS[place]) for place in places]
    names = [NAMES[place] for place in places]
    if sent.deletes is not None:
        arrays.append(pa.array([sent.is_delete(place) for place in range(len(sent.rows))]))
        names.append(DELETE_MARK)
    batch = pa.record_batch(arrays, names=names)
    batches = [batch.slice(start, 2) for start in range(0, batch.num_rows, 2)]
    return write_data_files(writer_state(table), target, batches, bounds or WriteBounds())


def replayed(writes: Sequence[Sent]) -> list[Row]:
    """Returns the rows left when the writes are applied one by one to an empty table."""
    rows: list[Row] = []
    for write in writes:
        if not write.keys:
            rows += write.rows
            continue
        last = {
            tuple(row[key - 1] for key in write.keys): None if write.is_delete(place) else row
            for place, row in enumerate(write.rows)
        }
        rows = [row for row in rows if tuple(row[key - 1] for key in write.keys) not in last]
        rows += [row for row in last.values() if row is not None]
    return sorted(rows, key=repr)


def committed(table: Table, results: Sequence[WriteResult]) -> list[Row]:
    """Commits the results, and returns the rows of the data files alone: no delete has to be applied."""
    committable = Committable(KEY, uuid4(), (uuid4(),), tuple(results))
    joined = without_superseded(table, committable, not_synced)
    append = SnapshotAppend.prepare(table, joined.committable, data_file, ManifestLists(not_synced))
    append.owning(joined.written).leaving_out(joined.left_out).publish()
    return found(table)


def found(table: Table) -> list[Row]:
    read = table.refresh().scan(selected_fields=NAMES).to_arrow().select(NAMES).to_pylist()
    return sorted((tuple(row.values()) for row in read), key=repr)


def a_write(partition: int | None) -> some.SearchStrategy[Sent]:
    fitting = [
        (columns, [key for key in keys if partition is None or partition in key])
        for columns, keys in COLUMNS
        if partition is None or columns is None or partition in columns
    ]

    @some.composite
    def drawn(draw: some.DrawFn) -> Sent:
        columns, keys = draw(some.sampled_from(fitting))
        values = (some.sampled_from([None, 1, 2]), some.sampled_from([None, 7, 8]))
        texts = some.sampled_from([None, "", "x", "a text that is longer than sixteen letters"])
        rows = draw(some.lists(some.tuples(*values, texts, some.none()), min_size=1, max_size=5))
        sent_rows = [
            tuple(
                value if columns is None or place + 1 in columns else None for place, value in enumerate(row)
            )
            for row in rows
        ]
        # A write without keys is an append.
        chosen = draw(some.sampled_from([(), *keys]))
        places = some.frozensets(some.integers(0, len(sent_rows) - 1))
        deletes = draw(some.none() | places) if chosen else None
        return Sent(columns, chosen, tuple(sent_rows), deletes)

    return drawn()


def with_notes(writes: Sequence[Sent]) -> list[Sent]:
    """Notes in each row where it comes from, so that no two rows are equal."""
    return [
        replace(
            write,
            rows=tuple((*row[:3], f"{number}.{place}") for place, row in enumerate(write.rows)),
        )
        for number, write in enumerate(writes)
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=some.data())
def test_a_round_leaves_the_rows_that_its_writes_leave_one_after_the_other(
    catalog: SqlCatalog, data: some.DataObject
) -> None:
    table = created(catalog, sorted_by=data.draw(some.sampled_from([None, 1, 4])))
    spec = data.draw(some.sampled_from(SPECS))
    if spec is not None:
        with table.update_spec() as change:
            change.add_field("b", spec[1], "part")
    write = a_write(None if spec is None else spec[0])
    writes = with_notes(data.draw(some.lists(write, min_size=1, max_size=6)))
    bounds = data.draw(some.sampled_from([None, WriteBounds(buffered_bytes=1)]))
    results = [written(table, write, bounds) for write in writes]
    expected = replayed(writes)
    # The result does not depend on how many keys are in memory at once.
    some_at_once, all_at_once = (superseded_rows(table, results, size) for size in (1, 1 << 24))
    assert {file: sorted(positions.to_pylist()) for file, positions in some_at_once.items()} == {
        file: sorted(positions.to_pylist()) for file, positions in all_at_once.items()
    }
    for result, sent in zip(results, writes, strict=True):
        assert result.record_count + result.delete_count == effect_count(sent)
    assert committed(table, results) == expected


def effect_count(write: Sent) -> int:
    """Returns the number of keys that an upsert changes, or of rows that an append has."""
    return len(
        {tuple(row[key - 1] for key in write.keys) for row in write.rows} if write.keys else write.rows
    )


def test_a_round_that_only_deletes_is_a_snapshot_without_files(catalog: SqlCatalog) -> None:
    table = created(catalog)
    gone = Sent((1,), (1,), ((1, None, None, None), (2, None, None, None)), frozenset({0, 1}))
    result = written(table, gone)
    assert (result.data_files, result.record_count, result.delete_count) == ((), 0, 2)
    assert committed(table, [result]) == []
    assert table.refresh().current_snapshot() is not None
    # Deletes that no row needs leave the rows as they are.
    rows = [(3, 7, "c", "stays")]
    assert committed(table, [written(table, Sent(None, (), tuple(rows)))]) == rows
    assert committed(table.refresh(), [written(table, gone)]) == rows
    assert len(table.refresh().metadata.snapshots) == 3


def keyed(*rows: tuple[int, str], columns: tuple[int, ...] | None = (1, 4)) -> Sent:
    return Sent(columns, (1,), tuple((number, None, None, note) for number, note in rows))


def data_paths(table: Table) -> set[str]:
    return {path.as_uri() for path in Path(table.location().removeprefix("file://")).rglob("data/*.parquet")}


def test_files_are_written_again_only_where_rows_of_them_go_and_some_stay(catalog: SqlCatalog) -> None:
    table = created(catalog)
    untouched, partly, wholly = keyed((1, "x")), keyed((2, "old"), (3, "x")), keyed((4, "old"))
    results = [written(table, sent) for sent in (untouched, partly, wholly, keyed((2, "new"), (4, "new")))]
    committable = Committable(KEY, uuid4(), (uuid4(),), tuple(results))
    joined = without_superseded(table, committable, not_synced)
    first, second, third, last = joined.committable.write_results
    assert (first, last) == (results[0], results[3])
    assert (second.data_files, second.record_count) == (joined.written, 1)
    assert (third.data_files, third.record_count) == ((), 0)
    # Their delete files are kept, as they apply to the rows of the table.
    assert (second.delete_files, third.delete_files) == (results[1].delete_files, results[2].delete_files)
    assert joined.left_out == (*results[1].data_files, *results[2].data_files)
    # The file is written again with the same columns.
    assert '"keys":[1,4]' in joined.written[0].replace(" ", "").partition("column-sizes")[2]
    before = data_paths(table)
    joined.discard(table.io)
    assert before - data_paths(table) == set(locations_of(joined.written))


def test_keys_are_compared_as_the_table_has_them_now(catalog: SqlCatalog) -> None:
    table = created(catalog)
    before = written(table, Sent((2, 4), (), ((None, 7, None, "old"), (None, 8, None, "stays"))))
    with table.update_schema() as change:
        change.update_column("b", LongType())
        change.add_column("d", UUIDType())
    after = written(table.refresh(), Sent((2, 4), (2,), ((None, 7, None, "new"),)))
    assert committed(table, [before, after]) == [(None, 7, None, "new"), (None, 8, None, "stays")]


def test_many_files_and_long_ones_are_compared_too(catalog: SqlCatalog) -> None:
    table = created(catalog)
    long = keyed(*((number, f"old {number}") for number in range(3_000)))
    writes = [replace(long, keys=()), *(keyed((number * 75, f"new {number}")) for number in range(40))]
    assert committed(table, [written(table, write) for write in writes]) == replayed(writes)


def test_a_storage_that_does_not_take_files_has_none_of_them(catalog: SqlCatalog) -> None:
    def fail(_: Iterable[str]) -> None:
        raise OSError("no space left on the device")

    table = created(catalog)
    results = [written(table, sent) for sent in (keyed((1, "old"), (2, "x")), keyed((1, "new")))]
    before = data_paths(table)
    with pytest.raises(StorageDown):
        without_superseded(table, Committable(KEY, uuid4(), (uuid4(),), tuple(results)), fail)
    assert data_paths(table) == before


def test_a_file_that_is_missing_or_none_is_named(catalog: SqlCatalog) -> None:
    table = created(catalog)
    results = [written(table, keyed((number, "x"))) for number in range(2)]
    [file] = results[0].data_files
    [location] = locations_of([file])
    Path(location.removeprefix("file://")).write_bytes(b"no file of Parquet")
    with pytest.raises(CommittableUnreadable) as unreadable:
        committed(table, results)
    assert unreadable.value.data_files == {file}
    Path(location.removeprefix("file://")).unlink()
    with pytest.raises(WrittenFileMissing) as missing:
        committed(table, results)
    assert missing.value.data_files == {file}
    undescribed = replace(results[0], data_files=('{"content":"data"}',))
    with pytest.raises(CommittableUnreadable) as bad:
        committed(table, [undescribed, results[1]])
    assert bad.value.data_files == {'{"content":"data"}'}
    assert table.refresh().current_snapshot() is None


def test_nothing_is_read_where_no_upsert_comes_after_another_write(catalog: SqlCatalog) -> None:
    table = created(catalog)
    results = [written(table, sent) for sent in (keyed((1, "x")), Sent(None, (), ((1, 1, "c", "n"),)))]
    for location in locations_of(results[0].data_files):
        Path(location.removeprefix("file://")).unlink()
    committable = Committable(KEY, uuid4(), (uuid4(),), tuple(results))
    assert without_superseded(table, committable, not_synced).committable is committable
    assert PartitionSpec() == table.spec()
