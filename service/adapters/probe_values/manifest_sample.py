"""Which of very many manifests are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from pyiceberg.manifest import ManifestFile


def manifest_sample(manifests: Sequence[ManifestFile], max_files: int) -> list[ManifestFile]:
    """Manifests with so many files at most; one at least, unless none are to be looked at.

    They are chosen by their paths alone. So a new snapshot of a table has almost the sample of the one
    before, and few manifests are read for it.
    """
    chosen: list[ManifestFile] = []
    left = max_files
    for each in sorted(manifests, key=lambda manifest: crc32(manifest.manifest_path.encode())):
        left -= (each.added_files_count or 0) + (each.existing_files_count or 0)
        if left < 0 and (chosen or max_files <= 0):
            break
        chosen.append(each)
    return chosen
