"""A whole result as one file, made chunk by chunk."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from api.http.rendering.collected_bytes import CollectedBytes
from api.http.rendering.formats import render_csv, render_json_lines, turn_of


class DownloadFormat(StrEnum):
    """The formats of whole results."""

    JSON_LINES = "JSON_LINES"
    CSV = "CSV"
    ARROW_STREAM = "ARROW_STREAM"
    PARQUET = "PARQUET"


MEDIA_TYPES = {
    DownloadFormat.JSON_LINES: "application/x-ndjson",
    DownloadFormat.CSV: "text/csv",
    DownloadFormat.ARROW_STREAM: "application/vnd.apache.arrow.stream",
    DownloadFormat.PARQUET: "application/vnd.apache.parquet",
}
EXTENSIONS = {
    DownloadFormat.JSON_LINES: "ndjson",
    DownloadFormat.CSV: "csv",
    DownloadFormat.ARROW_STREAM: "arrows",
    DownloadFormat.PARQUET: "parquet",
}


class FormatUnfit(Exception):
    """The format has no type for a column of the result."""


class FileWriter(Protocol):
    """Writes one file. Not for several threads at once."""

    def add(self, rows: pa.Table) -> bytes:
        """Returns the bytes of the file that are complete with these rows.

        Raises:
            FormatUnfit: at the first rows.
        """

    def end(self) -> bytes:
        """Returns the last bytes."""


def writer_of(download_format: DownloadFormat) -> FileWriter:
    """Returns a writer for one file."""
    match download_format:
        case DownloadFormat.JSON_LINES:
            return _JsonLines()
        case DownloadFormat.CSV:
            return _Csv()
        case DownloadFormat.ARROW_STREAM:
            return _ArrowStream()
        case DownloadFormat.PARQUET:
            return _Parquet()


class _JsonLines:
    def add(self, rows: pa.Table) -> bytes:
        with turn_of(rows):
            return render_json_lines(rows)

    def end(self) -> bytes:
        return b""


class _Csv:
    def __init__(self) -> None:
        self._is_first = True

    def add(self, rows: pa.Table) -> bytes:
        has_header, self._is_first = self._is_first, False
        with turn_of(rows):
            return render_csv(rows, has_header)

    def end(self) -> bytes:
        return b""


class _ArrowStream:
    def __init__(self) -> None:
        self._bytes = CollectedBytes()
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None

    def add(self, rows: pa.Table) -> bytes:
        if self._writer is None:
            self._writer = pa.ipc.new_stream(pa.PythonFile(self._bytes, mode="w"), rows.schema)
        self._writer.write_table(rows)
        return self._bytes.take()

    def end(self) -> bytes:
        if self._writer is not None:
            self._writer.close()
        return self._bytes.take()


class _Parquet:
    """Each chunk of the result becomes a row group."""

    def __init__(self) -> None:
        self._bytes = CollectedBytes()
        self._writer: pq.ParquetWriter | None = None

    def add(self, rows: pa.Table) -> bytes:
        if self._writer is None:
            self._writer = self._begun(rows.schema)
        self._writer.write_table(rows)
        return self._bytes.take()

    def end(self) -> bytes:
        if self._writer is not None:
            self._writer.close()
        return self._bytes.take()

    def _begun(self, schema: pa.Schema) -> pq.ParquetWriter:
        if not schema.names:
            raise FormatUnfit("Parquet has no rows without columns.")
        unfit = [field for field in schema if not _fits_parquet(field)]
        if unfit:
            raise FormatUnfit(f"Parquet has no type for the column {unfit[0].name!r} ({unfit[0].type}).")
        return pq.ParquetWriter(pa.PythonFile(self._bytes, mode="w"), schema, compression="zstd")


def _fits_parquet(field: pa.Field) -> bool:
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
    except pa.ArrowNotImplementedError:
        return False
    return True
