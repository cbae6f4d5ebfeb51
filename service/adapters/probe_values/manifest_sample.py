"""Chooses a sample of very many manifests."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from pyiceberg.manifest import ManifestFile


def manifest_sample(manifests: Sequence[ManifestFile], max_files: int) -> list[ManifestFile]:
    """Returns manifests with at most `max_files` files; at least one, unless `max_files` is zero.

    They are chosen only by their paths. So a new snapshot has almost the same sample as the one before, and
    few manifests are read for it.
    """
    chosen: list[ManifestFile] = []
    left = max_files
    for manifest in sorted(manifests, key=lambda manifest: crc32(manifest.manifest_path.encode())):
        left -= (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)
        if left < 0 and (chosen or max_files <= 0):
            break
        chosen.append(manifest)
    return chosen
