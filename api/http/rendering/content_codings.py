"""Compresses the bytes of an answer as they are made (RFC 9110, section 8.4.1)."""

from __future__ import annotations

import zlib
from enum import StrEnum
from typing import Protocol

import pyarrow as pa

from api.http.rendering.collected_bytes import CollectedBytes

# Level 1: a download waits for the processor, and not for the network.
_GZIP_LEVEL = 1
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class ContentCoding(StrEnum):
    """The codings that an answer may have; the best first."""

    ZSTD = "zstd"
    GZIP = "gzip"
    IDENTITY = "identity"


class Coder(Protocol):
    """Codes one answer."""

    def add(self, data: bytes) -> bytes:
        """Returns the coded bytes that are complete so far."""

    def end(self) -> bytes:
        """Returns the last coded bytes."""


def coder_of(coding: ContentCoding) -> Coder:
    """Returns a coder for one answer."""
    match coding:
        case ContentCoding.ZSTD:
            return _Zstd()
        case ContentCoding.GZIP:
            return _Gzip()
        case ContentCoding.IDENTITY:
            return _Identity()


class _Identity:
    def add(self, data: bytes) -> bytes:
        return data

    def end(self) -> bytes:
        return b""


class _Gzip:
    def __init__(self) -> None:
        self._compressor = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP_WINDOW)

    def add(self, data: bytes) -> bytes:
        return self._compressor.compress(data)

    def end(self) -> bytes:
        return self._compressor.flush()


class _Zstd:
    def __init__(self) -> None:
        self._coded = CollectedBytes()
        self._stream = pa.CompressedOutputStream(pa.PythonFile(self._coded, mode="w"), "zstd")

    def add(self, data: bytes) -> bytes:
        self._stream.write(data)
        return self._coded.take()

    def end(self) -> bytes:
        self._stream.close()
        return self._coded.take()
