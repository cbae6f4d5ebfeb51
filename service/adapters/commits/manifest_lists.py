"""Caches manifest-list entries: a new list usually extends the previous one.

Only the new entries are encoded. PyIceberg reads and writes all entries of a list for every snapshot, which
takes milliseconds per hundred entries.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyiceberg.avro.encoder import BinaryEncoder
from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestFile, ManifestListWriter
from pyiceberg.table.snapshots import Snapshot

from service.adapters.disk.synced_files import Sync, sync_files
from service.bounded_lru import BoundedLru
from service.model.operations.usage import CacheUse

_MAX_CACHED_LISTS = 256
_MAX_CACHED_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class _Entries:
    """Manifest-list entries, encoded as in a file of this format version."""

    format_version: int
    count: int
    content: bytes


class ManifestLists:
    """Writes manifest lists, and caches the entries of the newest list of each branch: a file never changes.

    Thread-safe. A written list is synced to disk, and so are the manifests that are new in it.
    """

    def __init__(self, sync: Sync = sync_files) -> None:
        self._sync = sync
        self._cached: BoundedLru[str, _Entries] = BoundedLru(_MAX_CACHED_LISTS, _MAX_CACHED_BYTES)

    @property
    def use(self) -> CacheUse:
        """The use of the cache."""
        return self._cached.use

    def write(
        self,
        writer: ManifestListWriter,
        files: FileIO,
        added: Sequence[ManifestFile],
        before: Snapshot | None,
    ) -> None:
        """Writes the added manifests, and after them the manifests of `before` that have live files."""
        with writer:
            new = _encoded(writer, added)
            old = _Entries(writer._format_version, 0, b"")
            if before is not None:
                old = self._entries(writer, files, before)
            whole = _Entries(new.format_version, new.count + old.count, new.content + old.content)
            _write_block(writer, whole)
        location = writer._output_file.location
        self._sync([*(manifest.manifest_path for manifest in added), location])
        if before is not None:
            # The next commit reads the new list, which has all entries of this one.
            self._cached.drop(before.manifest_list)
        self._cached.put(location, whole, len(whole.content))

    def _entries(self, writer: ManifestListWriter, files: FileIO, snapshot: Snapshot) -> _Entries:
        cached = self._cached.get(snapshot.manifest_list)
        if cached is not None and cached.format_version == writer._format_version:
            return cached
        return _encoded(writer, filter(_is_alive, snapshot.manifests(files)))


def _is_alive(manifest: ManifestFile) -> bool:
    # The condition that PyIceberg's appends use.
    return manifest.has_added_files() or manifest.has_existing_files()


def _encoded(writer: ManifestListWriter, manifests: Iterable[ManifestFile]) -> _Entries:
    content = io.BytesIO()
    encoder = BinaryEncoder(content)
    prepared = [writer.prepare_manifest(manifest) for manifest in manifests]
    for manifest in prepared:
        writer._writer.writer.write(encoder, manifest)
    return _Entries(writer._format_version, len(prepared), content.getvalue())


def _write_block(writer: ManifestListWriter, entries: _Entries) -> None:
    """`AvroOutputFile.write_block` for entries that are already encoded."""
    file = writer._writer
    codec = file.compression_codec()
    content = entries.content if codec is None else codec.compress(entries.content)[0]
    file.encoder.write_int(entries.count)
    file.encoder.write_int(len(content))
    file.encoder.write(content)
    file.encoder.write(file.sync_bytes)
