"""The files and folders that are synced before a write returns."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest

from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import sync_files
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Destination, TableKey, WritableTable
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName
from tests.unit.adapters.data_files.states import files_below, paths_of, spec_of, state_of, target_of

LONG_AGO_S = time.time() - 100_000


class Synced:
    """Records the synced paths as `fsync` sees them; a full disk raises an error."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.is_full = False

    def __call__(self, descriptor: int) -> None:
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.paths.append(Path(f"/proc/self/fd/{descriptor}").readlink())


@pytest.fixture
def synced() -> Synced:
    return Synced()


def data_files(synced: Synced) -> ParquetDataFiles:
    return ParquetDataFiles(WriteBounds(), partial(sync_files, fsync=synced))


def destination(folder: Path) -> Destination:
    state = state_of(folder, spec=spec_of((1, "identity", "id")))
    key = TableKey(TableName("lake", "s", "t"))
    table = WritableTable(key, UUID(int=1), 2, TableSchema(3, ()), 0, (), (), state.encoded())
    return Destination(table, target_of(state, (1,)))


ROWS = pa.record_batch({"id": pa.array([1, 2, 3], pa.int64())})


def test_files_and_the_new_folders_that_lead_to_them_are_synced_once(tmp_path: Path, synced: Synced) -> None:
    to = destination(tmp_path / "table")
    (tmp_path / "table").mkdir()
    os.utime(tmp_path, (LONG_AGO_S, LONG_AGO_S))
    results = data_files(synced).write_all([(to, ROWS)])
    [written] = results
    files = paths_of(written)
    folders = {file.parent for file in files} | {tmp_path / "table" / "data", tmp_path / "table"}
    assert len(files) == 3
    assert sorted(synced.paths) == sorted([*files, *folders])
    # Files are synced first: a name without its content would be no better than no name.
    assert set(synced.paths[:3]) == set(files)


def test_a_folder_is_synced_again_once_something_has_come_to_it(tmp_path: Path, synced: Synced) -> None:
    file = tmp_path / "data" / "a.parquet"
    file.parent.mkdir()
    file.touch()

    def synced_a_minute_later() -> set[Path]:
        synced.paths.clear()
        sync_files([str(file)], synced, lambda: time.time() + 60)
        return {file, file.parent, tmp_path} & set(synced.paths)

    assert synced_a_minute_later() == {file, file.parent, tmp_path}
    assert synced_a_minute_later() == {file}
    before = tmp_path.stat()
    (tmp_path / "other").touch()
    # Tools that preserve times reset this one.
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert synced_a_minute_later() == {file, tmp_path}


def test_a_folder_that_changed_just_now_may_change_again_in_the_same_moment(
    tmp_path: Path, synced: Synced
) -> None:
    file = tmp_path / "a.parquet"
    file.touch()
    for _ in range(2):
        sync_files([str(file)], synced)
    assert synced.paths.count(tmp_path) == 2


def test_a_write_of_one_target_is_synced_too(tmp_path: Path, synced: Synced) -> None:
    to = destination(tmp_path)
    written = data_files(synced).write(to.table, to.target, [ROWS])
    assert set(paths_of(written)) <= set(synced.paths)


def test_files_that_the_disk_does_not_take_are_none(tmp_path: Path, synced: Synced) -> None:
    synced.is_full = True
    to = destination(tmp_path)
    files = data_files(synced)
    with pytest.raises(StorageDown):
        files.write_all([(to, ROWS)])
    with pytest.raises(StorageDown):
        files.write(to.table, to.target, [ROWS])
    assert not files_below(tmp_path)


def test_what_lies_in_an_object_store_is_not_looked_for(synced: Synced) -> None:
    sync_files(["s3://bucket/data/a.parquet", "abfs://b@c/d.parquet"], synced)
    assert not synced.paths
