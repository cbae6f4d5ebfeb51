"""The values that a branch's data files may hold in an upsert's key columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import NestedField

from service.adapters.commits.cached_values import CachedValues
from service.bounded_lru import BoundedLru

_MAX_CACHED_MANIFESTS = 10_000
_MAX_CACHED_BYTES = 16 << 20
# Rough measurements: a file's partition, and two bounds of a column.
_FILE_BYTES = 300
_COLUMN_BYTES = 300
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, ArithmeticError)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A data file: its partition under its spec, and the values it may hold in each requested column."""

    spec_id: int
    partition: tuple[object, ...]
    columns: tuple[CachedValues, ...]


class LiveFiles:
    """Reads the manifests of a branch's newest snapshot, each once: a manifest never changes.

    Thread-safe. It reads nothing of a branch with more than `files_at_most` data files.
    """

    def __init__(self, files_at_most: int) -> None:
        self._files_at_most = files_at_most
        self._cached: BoundedLru[tuple[object, ...], list[LiveFile]] = BoundedLru(
            _MAX_CACHED_MANIFESTS, _MAX_CACHED_BYTES
        )

    def of(self, table: Table, branch: str, fields: Sequence[NestedField]) -> list[LiveFile] | None:
        """The data files that a commit to the branch finds. None: they are too many, or cannot be read."""
        try:
            manifests = data_manifests(table, branch)
            counts = [_file_count(manifest) for manifest in manifests]
            known = [count for count in counts if count is not None]
            if len(known) < len(counts) or sum(known) > self._files_at_most:
                return None
            return [file for manifest in manifests for file in self._files(table, manifest, fields)]
        except _UNREADABLE as error:
            # All deletes are then written, as if every file might hold any value.
            log.warning(
                "live_files_unreadable",
                table=".".join(table.name()),
                error=type(error).__name__,
                reason=str(error),
            )
            return None

    def _files(self, table: Table, manifest: ManifestFile, fields: Sequence[NestedField]) -> list[LiveFile]:
        asked = tuple((field.field_id, str(field.field_type), field.initial_default) for field in fields)
        key = (manifest.manifest_path, manifest.manifest_length, asked)
        cached = self._cached.get(key)
        if cached is None:
            cached = _read(table.io, manifest, table.specs()[manifest.partition_spec_id], fields)
            self._cached.put(key, cached, (len(cached) + 1) * (_FILE_BYTES + _COLUMN_BYTES * len(fields)))
        return cached


def data_manifests(table: Table, branch: str) -> list[ManifestFile]:
    """Returns the manifests whose data files a commit to the branch finds.

    A new branch starts from the head of `main`.
    """
    ref = table.metadata.refs.get(branch) or table.metadata.refs.get(MAIN_BRANCH)
    head = table.metadata.snapshot_by_id(ref.snapshot_id) if ref else None
    return [manifest for manifest in head.manifests(table.io) if _has_files(manifest)] if head else []


def _has_files(manifest: ManifestFile) -> bool:
    return manifest.content == ManifestContent.DATA and _file_count(manifest) != 0


def _file_count(manifest: ManifestFile) -> int | None:
    added, existing = manifest.added_files_count, manifest.existing_files_count
    return None if added is None or existing is None else added + existing


def _read(
    io: FileIO, manifest: ManifestFile, spec: PartitionSpec, fields: Sequence[NestedField]
) -> list[LiveFile]:
    # Readers take such a column's value from the partition, whatever else the file says.
    sources = {field.source_id for field in spec.fields if isinstance(field.transform, IdentityTransform)}
    entries = manifest.fetch_manifest_entry(io, discard_deleted=True)
    return [_live_file(entry.data_file, spec, fields, sources) for entry in entries]


def _live_file(
    file: DataFile, spec: PartitionSpec, fields: Sequence[NestedField], sources: set[int]
) -> LiveFile:
    return LiveFile(
        spec.spec_id,
        tuple(file.partition[place] for place in range(len(spec.fields))),
        tuple(
            CachedValues.anything() if field.field_id in sources else CachedValues.of(file, field)
            for field in fields
        ),
    )
