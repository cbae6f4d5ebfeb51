"""Writes a column of Arrow as the protocol's bytes, without an object for each value."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from api.hive_server.rows.column_texts import is_binary, text_column
from api.hive_server.wire.thrift_types import Kind

_LENGTH = 4
_TEXTS, _BINARIES = 7, 8


@dataclass(frozen=True, slots=True)
class _Numbers:
    """How numbers of a type are sent: the member of the union, the type of its values, and numpy's."""

    member: int
    kind: Kind
    dtype: str


_NUMBERS = {
    pa.bool_(): _Numbers(1, Kind.BOOL, "u1"),
    pa.int8(): _Numbers(2, Kind.BYTE, "i1"),
    pa.int16(): _Numbers(3, Kind.I16, ">i2"),
    pa.int32(): _Numbers(4, Kind.I32, ">i4"),
    pa.int64(): _Numbers(5, Kind.I64, ">i8"),
    pa.float32(): _Numbers(6, Kind.DOUBLE, ">f8"),
    pa.float64(): _Numbers(6, Kind.DOUBLE, ">f8"),
}


def written_column(column: pa.Array | pa.ChunkedArray) -> bytes:
    """Returns a `TColumn`: its one member with the values, and a bit for each NULL, the lowest bit first."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    numbers = _NUMBERS.get(array.type)
    if numbers is not None:
        return _union(numbers.member, numbers.kind, array, _written_numbers(array, numbers.dtype))
    member = _BINARIES if is_binary(array.type) else _TEXTS
    texts = text_column(array)
    return _union(member, Kind.STRING, texts, _written_texts(texts))


def _union(member: int, kind: Kind, array: pa.Array, values: bytes) -> bytes:
    head = struct.pack(">bhbhbi", Kind.STRUCT, member, Kind.LIST, 1, kind, len(array))
    nulls = _nulls(array)
    return b"".join([head, values, struct.pack(">bhi", Kind.STRING, 2, len(nulls)), nulls, b"\x00\x00"])


def _nulls(array: pa.Array) -> bytes:
    if array.null_count == 0:
        return bytes((len(array) + 7) // 8)
    flags = array.is_null().to_numpy(zero_copy_only=False)
    return np.packbits(flags, bitorder="little").tobytes()


def _written_numbers(array: pa.Array, dtype: str) -> bytes:
    if array.type == pa.float32():
        # Through text, as Hive does: the float 0.1 stays 0.1, and is not 0.10000000149011612.
        array = array.cast(pa.string()).cast(pa.float64())
    if array.null_count:
        array = pc.fill_null(array, pa.scalar(0).cast(array.type))
    values: npt.NDArray[np.generic] = array.to_numpy(zero_copy_only=False)
    return values.astype(dtype, copy=False).tobytes()


def _written_texts(array: pa.Array) -> bytes:
    """Returns each value with its length before it."""
    array = _without_nulls(array.cast(pa.large_binary()))
    count = len(array)
    if count == 0:
        return b""
    _, offset_buffer, value_buffer = array.buffers()
    all_offsets: npt.NDArray[np.int64] = np.frombuffer(offset_buffer, np.int64)
    offsets = all_offsets[array.offset : array.offset + count + 1]
    size = int(offsets[-1] - offsets[0])
    # Value i begins behind i + 1 lengths.
    places = (offsets[:-1] - offsets[0]) + _LENGTH * np.arange(count)
    written = np.empty(size + _LENGTH * count, np.uint8)
    is_value = np.ones(written.size, np.bool_)
    lengths = np.diff(offsets).astype(">u4").view(np.uint8).reshape(count, _LENGTH)
    for byte in range(_LENGTH):
        written[places + byte] = lengths[:, byte]
        is_value[places + byte] = False
    if size:
        written[is_value] = np.frombuffer(value_buffer, np.uint8)[offsets[0] : offsets[-1]]
    return written.tobytes()


def _without_nulls(array: pa.Array) -> pa.Array:
    # A slot that is NULL may have bytes, which nobody may get to see.
    return pc.fill_null(array, b"") if array.null_count else array
