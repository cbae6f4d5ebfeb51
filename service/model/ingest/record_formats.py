"""Formats and compression of records in a stream of bytes."""

from __future__ import annotations

from enum import StrEnum


class RecordFormat(StrEnum):
    """The format of records in a stream of bytes; `NDJSON`: a JSON object on each line."""

    NDJSON = "NDJSON"
    CSV = "CSV"
    ARROW_STREAM = "ARROW_STREAM"
    PARQUET = "PARQUET"

    @property
    def is_text(self) -> bool:
        """Whether records are lines of text, with line numbers; a file name says how they are compressed."""
        match self:
            case RecordFormat.NDJSON | RecordFormat.CSV:
                return True
            case RecordFormat.ARROW_STREAM | RecordFormat.PARQUET:
                return False


class Compression(StrEnum):
    """The compression of a stream of bytes as a whole."""

    NONE = "NONE"
    GZIP = "GZIP"
    ZSTD = "ZSTD"
