"""Annotates the variants of a Parquet file, as its specification demands and PyArrow cannot.

Iceberg reads the columns without the annotation, too; other readers take them for a struct. The footer is the
last part of a file, and no place in the file is counted from its end. So it is changed before it is written.

Source: the Parquet format, `parquet.thrift`, as of 2.12.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer

_MAGIC = b"PAR1"
_END_BYTES = 4 + len(_MAGIC)
# Field ids of the footer and its schema elements.
_SCHEMA, _CHILD_COUNT, _FIELD_ID, _LOGICAL_TYPE = 2, 5, 9, 10
# The field `logicalType`, right after the field id of an element, with `VARIANT` of version 1 in it.
_VARIANT = bytes([0x1C, 0x0C, 0x20, 0x13, 0x01, 0x00, 0x00])


class AnnotatingStream:
    """Passes everything that is written on to a stream, but keeps the end of a file, to annotate it.

    It is the sink of a Parquet writer; the stream itself stays open.
    """

    closed = False

    def __init__(self, stream: Any, variant_ids: Collection[int]) -> None:
        self._stream = stream
        self._variant_ids = variant_ids
        self._end: bytearray | None = None

    def write(self, data: Any) -> int:
        """Writes the bytes, or keeps them."""
        if self._end is not None:
            self._end += memoryview(data)
            return len(data)
        written: int = self._stream.write(data)
        return written

    def flush(self) -> None:
        """Does nothing: the stream is flushed when it is closed."""

    def close(self) -> None:
        """Does nothing: whoever opened the stream closes it."""

    def begin_end(self) -> None:
        """Keeps what is written from now on, up to the last byte of the file."""
        self._end = bytearray()

    def write_end(self) -> None:
        """Writes what was kept, with annotations.

        Raises:
            ValueError: it is not the end of a Parquet file, or a variant is not in it.
        """
        assert self._end is not None
        self._stream.write(_annotated_end(bytes(self._end), self._variant_ids))


def _annotated_end(end: bytes, variant_ids: Collection[int]) -> bytes:
    size = int.from_bytes(end[-_END_BYTES : -len(_MAGIC)], "little")
    start = len(end) - _END_BYTES - size
    if end[-len(_MAGIC) :] != _MAGIC or start < 0:
        raise ValueError("This is not the end of a Parquet file.")
    footer = annotated_footer(end[start:-_END_BYTES], variant_ids)
    return end[:start] + footer + len(footer).to_bytes(4, "little") + _MAGIC


def annotated_footer(footer: bytes, variant_ids: Collection[int]) -> bytes:
    """Returns the footer with the annotation `VARIANT` at the groups with these field ids.

    Raises:
        ValueError: there is another number of such groups.
    """
    places = _ends_of_groups(footer, variant_ids)
    if len(places) != len(variant_ids):
        raise ValueError(f"{len(places)} of {len(variant_ids)} variants are in the footer.")
    pieces, start = [], 0
    for place in places:
        pieces += [footer[start:place], _VARIANT]
        start = place
    return b"".join([*pieces, footer[start:]])


def _ends_of_groups(footer: bytes, variant_ids: Collection[int]) -> list[int]:
    """Returns the places behind the last field of these groups in the schema."""
    buffer = TMemoryBuffer(footer)
    protocol = TCompactProtocol(buffer)
    protocol.readStructBegin()
    while True:
        _, kind, number = protocol.readFieldBegin()
        if kind == TType.STOP:
            return []
        if number == _SCHEMA:
            break
        protocol.skip(kind)
        protocol.readFieldEnd()
    _, count = protocol.readListBegin()
    elements = [_element(protocol, buffer) for _ in range(count)]
    return [
        end
        for end, fields in elements
        if fields.get(_FIELD_ID) in variant_ids and fields.get(_CHILD_COUNT) and max(fields) == _FIELD_ID
    ]


def _element(protocol: Any, buffer: Any) -> tuple[int, dict[int, int | None]]:
    """Returns the place of an element's end, and its fields, of which it reads the whole numbers alone."""
    fields: dict[int, int | None] = {}
    protocol.readStructBegin()
    while True:
        place: int = buffer.cstringio_buf.tell()
        _, kind, number = protocol.readFieldBegin()
        if kind == TType.STOP:
            protocol.readStructEnd()
            return place, fields
        fields[number] = protocol.readI32() if kind == TType.I32 else protocol.skip(kind)
        protocol.readFieldEnd()
