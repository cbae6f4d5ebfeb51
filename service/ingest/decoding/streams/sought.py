"""Makes streams seekable for formats whose end is read first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from service.ingest.decoding.streams.decompressed import decompressed
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.ports.tables.data_files import Spools

_COPIED_BYTES = 4 * 1024**2


@contextmanager
def opened_records(streamed: StreamedRecords, max_bytes: int, spools: Spools) -> Iterator[BinaryIO]:
    """Opens a body without its compression, as its format requires; temporary data goes with the context.

    Raises, also while it is read:
        IngestInvalid: it is not compressed in this way, or holds more than `max_bytes`.
        TooManyIngests, StorageDown: there is no space to decompress it.
    """
    with streamed.open() as raw:
        if streamed.record_format is RecordFormat.PARQUET and streamed.compression is Compression.NONE:
            yield raw
            return
        stream = decompressed(raw, streamed.compression, max_bytes)
        with sought(stream, streamed.record_format, spools) as found:
            yield found


@contextmanager
def sought(stream: BinaryIO, record_format: RecordFormat, spools: Spools) -> Iterator[BinaryIO]:
    """Returns the stream, or a seekable copy if its format needs one; the copy goes with the context.

    Raises:
        IngestInvalid, StorageDown: the stream cannot be read.
        TooManyIngests, StorageDown: there is no space for the copy.
    """
    if record_format is not RecordFormat.PARQUET or stream.seekable():
        yield stream
        return
    spool = spools.new()
    try:
        while part := stream.read(_COPIED_BYTES):
            spool.write(part)
        with spool.open() as file:
            yield file
    finally:
        spool.close()
