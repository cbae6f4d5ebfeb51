"""Manifest lists whose entries are copied from the previous snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.model.ingest.writing import Committable, TableKey
from service.model.tables.tables import TableName
from tests.contract.catalogs.plain_data_files import SCHEMA, ids_in, read_data_file, target_of, written

KEY = TableKey(TableName("lake", "game", "logs"))


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    made = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    made.create_namespace("game")
    yield made
    made.close()


@pytest.fixture(params=["1", "2"])
def table(catalog: SqlCatalog, request: pytest.FixtureRequest) -> Table:
    return catalog.create_table(("game", "logs"), SCHEMA, properties={"format-version": request.param})


def appended(table: Table, ids: Sequence[int], lists: ManifestLists) -> Snapshot:
    result = written(table, target_of(table, KEY), ids)
    committable = Committable(KEY, uuid4(), (), (result,))
    SnapshotAppend.prepare(table, committable, read_data_file, lists).publish()
    found = table.refresh().current_snapshot()
    assert found is not None
    return found


def paths(table: Table, snapshot: Snapshot) -> list[str]:
    return [manifest.manifest_path for manifest in snapshot.manifests(table.io)]


def test_each_list_has_its_own_manifest_before_those_of_the_list_before(table: Table) -> None:
    lists = ManifestLists()
    before: list[str] = []
    for number in range(1, 5):
        # The third commit comes from another replica, which has no cached entries.
        found = paths(table, appended(table, [number], lists if number != 3 else ManifestLists()))
        assert (len(found), found[1:]) == (number, before)
        before = found
    assert ids_in(table) == [1, 2, 3, 4]
    snapshot = table.current_snapshot()
    assert snapshot is not None
    numbers = [manifest.sequence_number for manifest in snapshot.manifests(table.io)]
    assert numbers == ([0] * 4 if table.metadata.format_version == 1 else [4, 3, 2, 1])


def test_a_list_that_was_just_written_is_not_read_again(table: Table) -> None:
    lists = ManifestLists()
    first = appended(table, [1], lists)
    Path(first.manifest_list.removeprefix("file://")).unlink()
    assert len(paths(table, appended(table, [2], lists))) == 2
    assert ids_in(table) == [1, 2]


def test_one_list_is_cached_however_many_were_written(table: Table) -> None:
    lists = ManifestLists()
    for number in range(5):
        appended(table, [number], lists)
    assert lists.use.entries == 1
    assert lists.use.byte_count > 0


def test_entries_are_those_that_pyiceberg_writes(table: Table) -> None:
    lists = ManifestLists()
    for number in range(2):
        appended(table, [number], lists)
    ours = table.current_snapshot()
    result = written(table, target_of(table, KEY), [2])
    # PyIceberg's own append reads our list and writes all of its entries again.
    append = table.transaction().update_snapshot().fast_append()
    append.append_data_file(read_data_file(result.data_files[0], table.schema(), table.spec()))
    append.commit()
    append._transaction.commit_transaction()
    theirs = table.refresh().current_snapshot()
    assert ours is not None
    assert theirs is not None
    assert [
        list(map(manifest.__getitem__, range(len(manifest)))) for manifest in theirs.manifests(table.io)[1:]
    ] == [list(map(manifest.__getitem__, range(len(manifest)))) for manifest in ours.manifests(table.io)]


def test_manifests_without_living_files_are_left_out(table: Table) -> None:
    lists = ManifestLists()
    for number in (1, 2):
        appended(table, [number], lists)
    table.delete("id = 1")
    assert len(paths(table, appended(table, [3], lists))) == 2
    assert ids_in(table) == [2, 3]


def test_a_table_of_a_newer_version_has_lists_of_that_version(catalog: SqlCatalog) -> None:
    table = catalog.create_table(("game", "logs"), SCHEMA, properties={"format-version": "1"})
    lists = ManifestLists()
    appended(table, [1], lists)
    with table.transaction() as changes:
        changes.upgrade_table_version(2)
    assert len(paths(table, appended(table, [2], lists))) == 2
    assert ids_in(table) == [1, 2]
