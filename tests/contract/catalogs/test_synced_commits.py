"""A catalog never points at files that a power failure can lose: all are synced to disk first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.commits.begin_append import begin_append
from service.adapters.commits.manifest_lists import ManifestLists
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.adapters.disk.synced_files import not_synced, path_on_disk, sync_files
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import Committable, RowDelta, TableKey
from service.model.tables.tables import TableName
from tests.contract.catalogs.commit_tables import committable_of
from tests.contract.catalogs.plain_data_files import SCHEMA, ids_in, read_data_file, target_of, written
from tests.fakes.clock import FakeClock

KEY = TableKey(TableName("lake", "game", "logs"))


class WatchedDisk:
    """Syncs files, and records which metadata file the catalog pointed at when each was synced."""

    def __init__(self, outside: SqlCatalog) -> None:
        self._outside = outside
        self.synced: dict[str, str] = {}
        self.is_full = False

    def __call__(self, locations: Iterable[str]) -> None:
        if self.is_full:
            raise OSError(28, "No space left on device")
        found = list(locations)
        sync_files(found)
        before = self._outside.load_table(("game", "logs")).metadata_location
        self.synced |= dict.fromkeys(found, before)


class RowDeltasOfRowsAlone:
    """Writes the manifests of an upsert's data files, without its deletes."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def prepare(self, delta: RowDelta) -> str | None:
        table = self._table.refresh()
        append = begin_append(table, "main", delta.summary, ManifestLists(not_synced))
        for file in delta.data_files:
            append.append_data_file(read_data_file(file, table.schema(), table.spec()))
        return append.written().model_dump_json(by_alias=True)


@pytest.fixture
def properties(tmp_path: Path) -> dict[str, str]:
    return {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": tmp_path.as_uri()}


@pytest.fixture
def outside(properties: dict[str, str]) -> Iterator[SqlCatalog]:
    made = SqlCatalog("lake", **properties)
    made.create_namespace("game")
    made.create_table(("game", "logs"), SCHEMA)
    yield made
    made.close()


@pytest.fixture
def disk(outside: SqlCatalog) -> WatchedDisk:
    return WatchedDisk(outside)


@pytest.fixture
def commits(
    properties: dict[str, str], outside: SqlCatalog, disk: WatchedDisk
) -> Iterator[PyIcebergTableCommits]:
    catalogs = PyIcebergCatalogs({"lake": {"type": "sql", **properties}}, FakeClock(), sync=disk)
    row_deltas = RowDeltasOfRowsAlone(outside.load_table(("game", "logs")))
    with closing(catalogs):
        yield PyIcebergTableCommits(catalogs, read_data_file, row_deltas=row_deltas, sync=disk)


def committable(outside: SqlCatalog, number: int, *, is_upsert: bool) -> Committable:
    table = outside.load_table(("game", "logs"))
    result = written(table, target_of(table, KEY), [number])
    return committable_of(KEY, [replace(result, target=replace(result.target, is_upsert=is_upsert))])


@pytest.mark.parametrize("is_upsert", [False, True])
def test_manifests_their_list_and_the_metadata_are_synced_before_the_catalog_points_at_them(
    commits: PyIcebergTableCommits, outside: SqlCatalog, disk: WatchedDisk, is_upsert: bool
) -> None:
    for number in (1, 2):
        before = outside.load_table(("game", "logs")).metadata_location
        disk.synced.clear()
        commits.commit(committable(outside, number, is_upsert=is_upsert))
        table = outside.load_table(("game", "logs"))
        snapshot = table.current_snapshot()
        assert snapshot is not None
        manifests = snapshot.manifests(table.io)
        new = [
            manifest.manifest_path
            for manifest in manifests
            if manifest.added_snapshot_id == snapshot.snapshot_id
        ]
        assert len(new) == 1
        wanted = [*new, snapshot.manifest_list, table.metadata_location]
        assert disk.synced == dict.fromkeys(wanted, before)
        assert all(path_on_disk(location) is not None for location in wanted)


@pytest.mark.parametrize("is_upsert", [False, True])
def test_what_the_disk_does_not_take_is_not_committed(
    commits: PyIcebergTableCommits, outside: SqlCatalog, disk: WatchedDisk, is_upsert: bool
) -> None:
    sent = committable(outside, 1, is_upsert=is_upsert)
    disk.is_full = True
    with pytest.raises(CatalogDown):
        commits.commit(sent)
    assert outside.load_table(("game", "logs")).current_snapshot() is None
    disk.is_full = False
    assert not commits.commit(sent).is_repeated
    assert ids_in(outside.load_table(("game", "logs"))) == [1]
