"""The format of a file, by its name."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, TypeAlias

from sluice_client.errors import DataNotSupported
from sluice_client.ingest.bodies import BodyType

FileFormat: TypeAlias = Literal["ndjson", "csv", "arrow", "parquet"]
Compression: TypeAlias = Literal["gzip", "zstd"]
CONTENT_TYPES: dict[str, str] = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}
_BY_SUFFIX = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".csv": "csv",
    ".arrows": "arrow",
    ".parquet": "parquet",
}
_ENCODINGS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}


def file_type(name: str | None, file_format: FileFormat | None, compression: Compression | None) -> BodyType:
    """Returns the type of a file.

    >>> file_type("events.ndjson.gz", None, None)
    BodyType(content_type='application/x-ndjson', content_encoding='gzip')

    Raises:
        DataNotSupported: neither the name nor the caller says the format.
    """
    suffixes = [] if name is None else [suffix.lower() for suffix in PurePath(name).suffixes]
    encoding = _ENCODINGS.get(suffixes[-1]) if suffixes else None
    if encoding is not None:
        suffixes.pop()
    kind = _BY_SUFFIX.get(suffixes[-1]) if suffixes else None
    chosen = file_format or kind
    if chosen not in CONTENT_TYPES:
        known = ", ".join(CONTENT_TYPES)
        raise DataNotSupported(f"pass format=, one of {known}: the file's name does not say it")
    return BodyType(CONTENT_TYPES[chosen], compression or encoding)
