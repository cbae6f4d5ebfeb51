"""Where a data file lies.

Source: Iceberg's `LocationProviders`. A class that a table's properties name is not loaded: who may set
properties must not choose what code runs here.
"""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from pyiceberg.table.locations import LocationProvider, ObjectStoreLocationProvider, SimpleLocationProvider
from pyiceberg.typedef import Record

from service.adapters.data_files.partitions import PartitionValues
from service.adapters.data_files.writer_state import WriterState

_WITH_FOLDERS = ("", "file", "hdfs")
_LONGEST_FOLDER = 255
# Keys of object stores have 1024 bytes at most, of which the table's location takes some.
_LONGEST_PATH = 900


class Locations:
    """Names files as no other write does."""

    def __init__(self, state: WriterState, write_id: UUID) -> None:
        self._state = state
        self._write_id = write_id
        self._has_hashes = _is_true(state, "write.object-storage.enabled", "false")
        self._has_folders = not self._has_hashes or _is_true(
            state, "write.object-storage.partitioned-paths", "true"
        )
        kind: type[LocationProvider] = (
            ObjectStoreLocationProvider if self._has_hashes else SimpleLocationProvider
        )
        self._provider = kind(state.location, dict(state.properties))
        self._count = 0

    def new(self, partition: PartitionValues) -> str:
        """The address of the next file, which holds rows of this partition.

        Raises:
            ValueError: the partition's value is too long for the name of a folder.
        """
        name = f"{self._count:05d}-{self._write_id}.parquet"
        self._count += 1
        if not partition or not self._has_folders:
            return self._provider.new_data_location(name)
        folder = self._state.spec.partition_to_path(Record(*partition), self._state.schema)
        self._check_length(folder)
        return self._provider.new_data_location(f"{folder}/{name}")

    def _check_length(self, folder: str) -> None:
        """Before a storage refuses it in words that could mean anything. What is no ASCII is escaped."""
        is_on_disk = urlsplit(self._state.location).scheme in _WITH_FOLDERS
        longest = max(map(len, folder.split("/")))
        if len(folder) > _LONGEST_PATH or (is_on_disk and longest > _LONGEST_FOLDER):
            raise ValueError("its value is too long for the name of a folder")


def _is_true(state: WriterState, name: str, default: str) -> bool:
    return state.properties.get(name, default).strip().lower() == "true"
