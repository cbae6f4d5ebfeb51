"""Rows as an Arrow IPC stream or a Parquet file, chunk by chunk. The only format that imports Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from sluice_client.cli.formats.row_format import Format
from sluice_client.query.query_answer import Manifest
from sluice_client.results.result_facts import WholeRows, joined


def write_arrow(
    asked: Format, manifest: Manifest, chunk: Callable[[int], pa.Table], stream: BinaryIO
) -> None:
    """Writes all chunks, with one of them in memory.

    Raises:
        UnexpectedAnswer: the chunks are not the result that the manifest describes.
    """
    chunks = _chunks(manifest, chunk)
    first = next(chunks, None)
    first = joined([], manifest.columns) if first is None else first
    with _writer(asked, stream, first.schema) as writer:
        writer.write_table(first)
        for rows in chunks:
            writer.write_table(rows)


def _chunks(manifest: Manifest, chunk: Callable[[int], pa.Table]) -> Iterator[pa.Table]:
    whole = WholeRows(manifest)
    for index in range(manifest.chunk_count):
        yield whole.take(chunk(index))
    whole.end()


def _writer(asked: Format, stream: BinaryIO, schema: pa.Schema) -> Any:
    if asked is Format.ARROW:
        return pa.ipc.new_stream(pa.PythonFile(stream, mode="w"), schema)
    import pyarrow.parquet as pq

    return pq.ParquetWriter(pa.PythonFile(stream, mode="w"), schema, compression="zstd")
