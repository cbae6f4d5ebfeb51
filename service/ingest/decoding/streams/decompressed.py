"""Decompresses a stream, up to the size that the operator allows."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from service.ingest.decoding.streams.gzip_stream import GzipStream
from service.ingest.decoding.streams.read_bounds import unfolds_to_too_much
from service.ingest.decoding.streams.reported_failures import reported
from service.ingest.decoding.streams.zstd_stream import ZstdStream
from service.model.ingest.record_formats import Compression

_BUFFER_BYTES = 1024**2


def decompressed(stream: BinaryIO, compression: Compression, max_bytes: int) -> BinaryIO:
    """Returns the decompressed stream, which reads on demand; consecutive compressed parts are one stream.

    Raises, while it is read:
        IngestInvalid: it is not compressed in this way, ends too early, or holds more than `max_bytes`.
        StorageDown: its storage fails.
    """
    bounded = _Bounded(_unpacked(stream, compression), compression, max_bytes)
    return cast(BinaryIO, io.BufferedReader(bounded, _BUFFER_BYTES))


def _unpacked(stream: BinaryIO, compression: Compression) -> BinaryIO:
    match compression:
        case Compression.NONE:
            return stream
        case Compression.GZIP:
            # Arrow takes zeros after the last part for another part.
            return cast(BinaryIO, GzipStream(stream))
        case Compression.ZSTD:
            return cast(BinaryIO, ZstdStream(stream))


class _Bounded(io.RawIOBase):
    def __init__(self, raw: BinaryIO, compression: Compression, max_bytes: int) -> None:
        self._raw = cast(io.BufferedReader, raw)
        self._compression = compression
        self._left = self._max_bytes = max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with reported(self._compression.lower()):
            byte_count = self._raw.readinto(buffer)
        self._left -= byte_count
        if self._left < 0:
            raise unfolds_to_too_much(self._max_bytes)
        return byte_count
