"""Chooses the location of a data file.

Source: Iceberg's `LocationProviders`. A class named in a table's properties is not loaded: a caller who may
set properties must not choose the code that runs here.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit
from uuid import UUID

from pyiceberg.table.locations import LocationProvider, ObjectStoreLocationProvider, SimpleLocationProvider
from pyiceberg.typedef import Record

from service.adapters.data_files.layout.partitions import PartitionValues
from service.adapters.data_files.plan.writer_state import WriterState
from service.model.identity import Identity
from service.model.tables.partition_rules import FolderBounds

_WITH_FOLDERS = ("", "file", "hdfs")
_LONGEST_FOLDER = 255
# Keys of object stores have at most 1024 bytes, and the table's location takes some of them.
_LONGEST_PATH = 900
_MAX_CACHED_FOLDERS, _MAX_CACHED_STATES = 1024, 32


class Locations:
    """Gives each file a unique name."""

    def __init__(self, state: WriterState, write_id: UUID) -> None:
        self._state = state
        self._write_id = write_id
        self._bounds = folder_bounds(state)
        kind: type[LocationProvider] = (
            ObjectStoreLocationProvider if _has_hashes(state) else SimpleLocationProvider
        )
        self._provider = kind(state.location, dict(state.properties))
        self._count = 0

    def new(self, partition: PartitionValues) -> str:
        """Returns the address of the next file, which holds rows of this partition.

        Raises:
            ValueError: the partition's value is too long for the name of a folder.
        """
        name = f"{self._count:05d}-{self._write_id}.parquet"
        self._count += 1
        if not partition or self._bounds is None:
            return self._provider.new_data_location(name)
        folder = self._folder(partition)
        _check_length(folder, self._bounds)
        return self._provider.new_data_location(f"{folder}/{name}")

    def _folder(self, partition: PartitionValues) -> str:
        known = _folders(Identity(self._state))
        folder = known.get(partition)
        if folder is None:
            folder = self._state.spec.partition_to_path(Record(*partition), self._state.schema)
            if len(known) >= _MAX_CACHED_FOLDERS:
                # Safe for other threads that read it now: each already has its result.
                known.clear()
            known[partition] = folder
        return folder


@lru_cache(_MAX_CACHED_STATES)
def _folders(_state: Identity[WriterState]) -> dict[PartitionValues, str]:
    """Caches folder names: small ingests write to the same few partitions again and again."""
    return {}


def folder_bounds(state: WriterState) -> FolderBounds | None:
    """The longest allowed partition folders; None if there are no folders."""
    if _has_hashes(state) and not _is_true(state, "write.object-storage.partitioned-paths", "true"):
        return None
    is_on_disk = urlsplit(state.location).scheme in _WITH_FOLDERS
    return FolderBounds(each=_LONGEST_FOLDER if is_on_disk else None, together=_LONGEST_PATH)


def _check_length(folder: str, bounds: FolderBounds) -> None:
    """Checks before a storage rejects it with an unclear error. Non-ASCII characters are escaped."""
    longest = max(map(len, folder.split("/")))
    if len(folder) > bounds.together or (bounds.each is not None and longest > bounds.each):
        raise ValueError("its value is too long for the name of a folder")


def _has_hashes(state: WriterState) -> bool:
    return _is_true(state, "write.object-storage.enabled", "false")


def _is_true(state: WriterState, name: str, default: str) -> bool:
    return state.properties.get(name, default).strip().lower() == "true"
