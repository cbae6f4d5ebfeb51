"""Lists of manifests, of which each but for its first entries is the list before.

PyIceberg reads and writes all entries of a list for every snapshot: milliseconds for each hundred of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyiceberg.avro.encoder import BinaryEncoder
from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestFile, ManifestListWriter
from pyiceberg.table.snapshots import Snapshot

from service.adapters.concurrency.bounded_lru import BoundedLru
from service.adapters.disk.synced_files import Sync, sync_files

_KEPT_LISTS = 256
_KEPT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class _Entries:
    """Entries as they lie in a file of this version."""

    format_version: int
    count: int
    content: bytes


class ManifestLists:
    """Writes lists, and keeps what is in those that it wrote last: a file never changes. For many threads.

    A list is on the disk when it is written, and so are the manifests that are new in it.
    """

    def __init__(self, sync: Sync = sync_files) -> None:
        self._sync = sync
        self._kept: BoundedLru[str, _Entries] = BoundedLru(_KEPT_LISTS, _KEPT_BYTES)

    def write(
        self,
        writer: ManifestListWriter,
        files: FileIO,
        added: Sequence[ManifestFile],
        before: Snapshot | None,
    ) -> None:
        """Puts the manifests into the writer's file, and behind them those before that have living files."""
        with writer:
            new = _encoded(writer, added)
            old = _Entries(writer._format_version, 0, b"")
            if before is not None:
                old = self._entries(writer, files, before)
            whole = _Entries(new.format_version, new.count + old.count, new.content + old.content)
            _write_block(writer, whole)
        location = writer._output_file.location
        self._sync([*(each.manifest_path for each in added), location])
        self._kept.put(location, whole, len(whole.content))

    def _entries(self, writer: ManifestListWriter, files: FileIO, snapshot: Snapshot) -> _Entries:
        kept = self._kept.get(snapshot.manifest_list)
        if kept is not None and kept.format_version == writer._format_version:
            return kept
        return _encoded(writer, filter(_is_alive, snapshot.manifests(files)))


def _is_alive(manifest: ManifestFile) -> bool:
    # As PyIceberg's appends see it.
    return manifest.has_added_files() or manifest.has_existing_files()


def _encoded(writer: ManifestListWriter, manifests: Iterable[ManifestFile]) -> _Entries:
    content = io.BytesIO()
    encoder = BinaryEncoder(content)
    prepared = [writer.prepare_manifest(each) for each in manifests]
    for each in prepared:
        writer._writer.writer.write(encoder, each)
    return _Entries(writer._format_version, len(prepared), content.getvalue())


def _write_block(writer: ManifestListWriter, entries: _Entries) -> None:
    """As `AvroOutputFile.write_block`, of what is encoded."""
    file = writer._writer
    codec = file.compression_codec()
    content = entries.content if codec is None else codec.compress(entries.content)[0]
    file.encoder.write_int(entries.count)
    file.encoder.write_int(len(content))
    file.encoder.write(content)
    file.encoder.write(file.sync_bytes)
