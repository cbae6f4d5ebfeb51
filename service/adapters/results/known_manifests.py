"""Manifests of other replicas' results, parsed once for all chunks that are read one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from service.adapters.results.manifest_file import NAME, read_manifest
from service.adapters.results.stored_result import StoredResult
from service.bounded_lru import BoundedLru

MAX_RESULTS = 256
MAX_BYTES = 64 << 20
_BATCH_BYTES = 500


@dataclass(frozen=True, slots=True)
class _Known:
    version: tuple[int, int, int]
    result: StoredResult


class KnownManifests:
    """Reads a manifest again whenever its file is another one. Thread-safe."""

    def __init__(self) -> None:
        self._known: BoundedLru[Path, _Known] = BoundedLru(MAX_RESULTS, MAX_BYTES)

    def read(self, folder: Path) -> StoredResult | None:
        """Returns the result in this folder, expiring by the wall clock; None if none can be read."""
        version = _version(folder / NAME)
        if version is None:
            self._known.drop(folder)
            return None
        known = self._known.get(folder, lambda known: known.version == version)
        if known is not None:
            return known.result
        # A file that takes its place while it is read has another version, which is found the next time.
        found = read_manifest(folder)
        if found is not None:
            count = sum(len(part.batches) for part in found.rows.parts)
            self._known.put(folder, _Known(version, found), _BATCH_BYTES * (count + 1))
        return found


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size
