"""Reads structs of Thrift's compact protocol, as far as Parquet's footers and page headers need it.

Source: the Thrift compact protocol encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT, _UUID = 0, 1, 2, 3, 7, 8, 12, 13
_INTEGERS, _LISTS = (4, 5, 6), (9, 10)
_SIZES = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
_DEEPEST = 16

Numbers = dict[int, "int | Numbers | list[Numbers]"]
"""The whole numbers, nested structs and requested lists of a struct, by the ids of their fields."""

Lists = Mapping[int, "Lists"]
"""Requests by field id: for lists of structs, and for structs with such lists, with the requests inside."""

_NO_LISTS: Lists = {}


def compact_struct(data: bytes) -> tuple[Numbers, int]:
    """Returns the struct at the beginning of the bytes, and its length in bytes.

    >>> compact_struct(bytes([0x15, 0x04, 0x15, 0x80, 0x01, 0x00]))
    ({1: 2, 2: 64}, 6)

    Raises:
        IndexError: more bytes are needed.
        ValueError: they are not a struct.
    """
    reader = _Reader(data)
    return reader.struct(0), reader.position


def listed_structs(data: bytes, field: int, wanted: Lists) -> Iterator[Numbers]:
    """Yields the structs of that list, one by one, in the struct at the beginning of the bytes.

    >>> list(listed_structs(bytes([0x15, 0x02, 0x19, 0x2C, 0x15, 0x04, 0x00, 0x15, 0x06, 0x00, 0x00]), 2, {}))
    [{1: 2}, {1: 3}]

    Raises:
        IndexError, ValueError: as in `compact_struct`.
    """
    return _Reader(data).listed(field, wanted)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def listed(self, field: int, wanted: Lists) -> Iterator[Numbers]:
        number = 0
        while (head := self._byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else _signed(self._varint())
            kind = head & 0x0F
            if number != field:
                if kind not in (_TRUE, _FALSE):
                    self._skip(kind, 0)
                continue
            yield from self._structs(kind, wanted, 1)
            return

    def struct(self, depth: int, wanted: Lists = _NO_LISTS) -> Numbers:
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
                found[number] = self.struct(depth + 1, wanted.get(number, _NO_LISTS))
            elif kind in _LISTS and number in wanted:
                found[number] = list(self._structs(kind, wanted[number], depth + 1))
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

    def _structs(self, kind: int, wanted: Lists, depth: int) -> Iterator[Numbers]:
        count, inner = self._list_head() if kind in _LISTS else (0, kind)
        if inner != _STRUCT:
            raise ValueError("what should be a list of structs is none")
        for _ in range(count):
            yield self.struct(depth, wanted)

    def _skip_list(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("lists lie too deep")
        count, kind = self._list_head()
        for _ in range(count):
            self._skip(kind, depth)

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._varint()
        # In a list, each boolean takes a byte.
        return count, _BYTE if head & 0x0F in (_TRUE, _FALSE) else head & 0x0F

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
