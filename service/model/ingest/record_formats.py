"""How a stream of bytes spells its records."""

from __future__ import annotations

from enum import StrEnum


class RecordFormat(StrEnum):
    """How records are spelled in a stream of bytes. `NDJSON`: a JSON object on each line."""

    NDJSON = "NDJSON"
    CSV = "CSV"
    ARROW_STREAM = "ARROW_STREAM"
    PARQUET = "PARQUET"


class Compression(StrEnum):
    """How a stream of bytes is compressed as a whole."""

    NONE = "NONE"
    GZIP = "GZIP"
    ZSTD = "ZSTD"
