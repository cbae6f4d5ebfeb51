"""The body of an ingest, from whatever the caller has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa

from sluice_client.calls import Body
from sluice_client.errors import DataNotSupported
from sluice_client.ingest.arrow_stream import arrow_pieces, table_batches
from sluice_client.ingest.bodies import (
    BodyType,
    FileBody,
    MadeBody,
    OpenFileBody,
    SpooledBody,
    read_pieces,
)
from sluice_client.ingest.file_types import CONTENT_TYPES, Compression, FileFormat, file_type
from sluice_client.ingest.record_lines import record_lines

IngestData: TypeAlias = Any
"""Dictionaries, Arrow, a data frame, the path of a file, or an open file: see `choose_body`."""
_NDJSON = BodyType(CONTENT_TYPES["ndjson"])
_ARROW = BodyType(CONTENT_TYPES["arrow"])


def choose_body(
    data: IngestData,
    *,
    file_format: FileFormat | None = None,
    compression: Compression | None = None,
    memory_bytes: int,
) -> Body:
    """Returns the body for records in one of these forms.

    - an iterable of dictionaries: JSON lines;
    - a table, a batch or a reader of Arrow, a frame of pandas or polars, and whatever else has
      `__arrow_c_stream__`: an Arrow stream;
    - the path of a file, or a file that is open in binary mode: its bytes as they are, in the format of
      its name or `file_format`.

    Raises:
        DataNotSupported: it is something else.
        OSError: there is no such file.
    """
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        return FileBody(file_type(path.name, file_format, compression), path)
    if hasattr(data, "read"):
        return _open_file(data, file_format, compression, memory_bytes)
    rows = _arrow(data)
    if isinstance(rows, pa.Table):
        table = rows
        return MadeBody(_ARROW, lambda: arrow_pieces(table.schema, table_batches(table)))
    if rows is not None:
        return SpooledBody(_ARROW, arrow_pieces(rows.schema, rows), memory_bytes)
    if isinstance(data, Mapping | bytes | bytearray) or not isinstance(data, Iterable):
        raise DataNotSupported(
            f"a {type(data).__name__} cannot be sent: pass a list of dicts, Arrow, a frame, a path or a file"
        )
    return SpooledBody(_NDJSON, record_lines(data), memory_bytes)


def _open_file(
    file: BinaryIO, file_format: FileFormat | None, compression: Compression | None, memory_bytes: int
) -> Body:
    name = getattr(file, "name", None)
    kind = file_type(name if isinstance(name, str) else None, file_format, compression)
    if hasattr(file, "seekable") and file.seekable():
        return OpenFileBody(kind, file)
    return SpooledBody(kind, read_pieces(file), memory_bytes)


def _arrow(data: Any) -> pa.Table | pa.RecordBatchReader | None:
    """Returns data that is Arrow, or knows how to become it."""
    if isinstance(data, pa.Table | pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    package = type(data).__module__.partition(".")[0]
    if package == "polars" and hasattr(data, "collect"):
        raise DataNotSupported("a LazyFrame has no rows yet: pass its collect()")
    if package == "pandas" and hasattr(data, "columns"):
        # The index is not a column, and pandas' own notes on types are of no use to a table.
        return pa.Table.from_pandas(data, preserve_index=False).replace_schema_metadata(None)
    if package == "polars" and hasattr(data, "to_arrow"):
        return data.to_arrow()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data)
    return None
