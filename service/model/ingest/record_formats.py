"""Formats and compression of records in a stream of bytes."""

from __future__ import annotations

from enum import StrEnum


class RecordFormat(StrEnum):
    """The format of records in a stream of bytes; `NDJSON`: a JSON object on each line."""

    NDJSON = "NDJSON"
    CSV = "CSV"
    ARROW_STREAM = "ARROW_STREAM"
    PARQUET = "PARQUET"


class Compression(StrEnum):
    """The compression of a stream of bytes as a whole."""

    NONE = "NONE"
    GZIP = "GZIP"
    ZSTD = "ZSTD"
