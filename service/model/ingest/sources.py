"""Files that callers want read, and the parts in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.model.ingest.record_formats import Compression, RecordFormat

_ENDINGS = {".gz": Compression.GZIP, ".zst": Compression.ZSTD, ".zstd": Compression.ZSTD}


@dataclass(frozen=True, slots=True)
class SourceRecords:
    """Records in files; without `compression`, each file's name decides."""

    uri: str
    record_format: RecordFormat
    compression: Compression | None = None

    def compression_of(self, uri: str) -> Compression:
        """Returns how this file is compressed.

        >>> SourceRecords("s3://b/*", RecordFormat.CSV).compression_of("s3://b/a.csv.gz").value
        'GZIP'
        """
        if self.compression is not None:
            return self.compression
        if not self.record_format.is_text:
            # These formats compress their content themselves, whatever the file's name.
            return Compression.NONE
        found = (kind for ending, kind in _ENDINGS.items() if uri.lower().endswith(ending))
        return next(found, Compression.NONE)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as it was when it was listed; `uri` has no globs left.

    `tag` is the store's name for this version of the file, where several tasks read parts of it.
    """

    uri: str
    byte_count: int
    modified_ns: int
    tag: str = ""


@dataclass(frozen=True, slots=True)
class SourceSplit:
    """A part of a file: the lines that begin from `start` on and before `end`; without `end`, all of them."""

    file: SourceFile
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBounds:
    """Bounds of one source; `entries` are names that are examined, whether or not they match.

    `steps` are comparisons of a name with a part of a glob. Finding the files may take `listing_ms`. Files
    larger than `untagged_bytes` are read in parts, which must all come from the same version of the file.
    """

    files: int = 10_000
    byte_count: int = 1 << 40
    entries: int = 200_000
    steps: int = 2_000_000
    listing_ms: int = 300_000
    untagged_bytes: int = 0


def source_splits(files: Sequence[SourceFile], split_bytes: int, *, is_splittable: bool) -> list[SourceSplit]:
    """Returns every file as one split, or as several of about equal size where lines can be found anywhere.

    >>> splits = source_splits([SourceFile("a", 25, 0)], 10, is_splittable=True)
    >>> [(split.start, split.end) for split in splits]
    [(0, 9), (9, 18), (18, 25)]
    """
    return [split for file in files for split in _splits(file, split_bytes if is_splittable else 0)]


def _splits(file: SourceFile, split_bytes: int) -> Iterator[SourceSplit]:
    count = -(-file.byte_count // split_bytes) if split_bytes else 1
    if count <= 1:
        yield SourceSplit(file)
        return
    size = -(-file.byte_count // count)
    for start in range(0, file.byte_count, size):
        yield SourceSplit(file, start, min(start + size, file.byte_count))
