"""Structs of Thrift's compact protocol, as far as headers of Parquet's pages need it.

Source: the Thrift compact protocol encoding.
"""

from __future__ import annotations

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT, _UUID = 0, 1, 2, 3, 7, 8, 12, 13
_INTEGERS, _LISTS = (4, 5, 6), (9, 10)
_SIZES = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
_DEEPEST = 16

Numbers = dict[int, "int | Numbers"]
"""The whole numbers, and the structs with such, by the ids of their fields."""


def compact_struct(data: bytes) -> tuple[Numbers, int]:
    """The struct that the bytes begin with, and how many they are.

    >>> compact_struct(bytes([0x15, 0x04, 0x15, 0x80, 0x01, 0x00]))
    ({1: 2, 2: 64}, 6)

    Raises:
        IndexError: more bytes are needed.
        ValueError: they are no struct.
    """
    reader = _Reader(data)
    return reader.struct(0), reader.position


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def struct(self, depth: int) -> Numbers:
        if depth > _DEEPEST:
            raise ValueError("structs lie too deep")
        found: Numbers = {}
        number = 0
        while (head := self._byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else _signed(self._varint())
            kind = head & 0x0F
            if number in found:
                raise ValueError(f"field {number} is there twice")
            if kind in _INTEGERS:
                found[number] = _signed(self._varint())
            elif kind == _STRUCT:
                found[number] = self.struct(depth + 1)
            elif kind not in (_TRUE, _FALSE):
                self._skip(kind, depth)
        return found

    def _skip(self, kind: int, depth: int) -> None:
        if kind in _SIZES:
            self._pass(_SIZES[kind])
        elif kind in _INTEGERS:
            self._varint()
        elif kind == _BINARY:
            self._pass(self._varint())
        elif kind == _STRUCT:
            self.struct(depth + 1)
        elif kind in _LISTS:
            self._skip_list(depth + 1)
        else:
            raise ValueError(f"there is no type {kind} in a page's header")

    def _skip_list(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("lists lie too deep")
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._varint()
        # A boolean in a list is a byte of its own.
        kind = _BYTE if head & 0x0F in (_TRUE, _FALSE) else head & 0x0F
        for _ in range(count):
            self._skip(kind, depth)

    def _byte(self) -> int:
        found = self._data[self.position]
        self.position += 1
        return found

    def _pass(self, count: int) -> None:
        self.position += count
        if self.position > len(self._data):
            raise IndexError("more bytes are needed")

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")


def _signed(number: int) -> int:
    return (number >> 1) ^ -(number & 1)
