"""Reads tables of FlatBuffers, as far as messages of Arrow need it.

Source: the FlatBuffers internals, "Tables" and "Vectors".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any


class FlatTable:
    """One table; fields are identified by their numbers, from 0 in the order of the schema.

    Raises, from each method:
        struct.error: the bytes are not a table.
    """

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    @classmethod
    def root(cls, data: bytes) -> FlatTable:
        """Returns the root table of these bytes."""
        return cls(data, _unpacked("<I", data, 0))

    def integer(self, number: int, form: str) -> int:
        """Returns a number in this format of `struct`; 0 if the field is missing."""
        position = self._field(number)
        return 0 if position is None else _unpacked(form, self._data, position)

    def table(self, number: int) -> FlatTable | None:
        """Returns a nested table; None if the field is missing."""
        position = self._field(number)
        return None if position is None else FlatTable(self._data, self._followed(position))

    def structs(self, number: int, form: str) -> Iterator[tuple[Any, ...]]:
        """Returns the members of a vector of structs."""
        position = self._field(number)
        if position is None:
            return iter(())
        start = self._followed(position)
        byte_count = _unpacked("<I", self._data, start) * struct.calcsize(form)
        members = self._data[start + 4 : start + 4 + byte_count]
        if len(members) < byte_count:
            raise struct.error("a vector ends too early")
        return struct.iter_unpack(form, members)

    def has(self, number: int) -> bool:
        """Returns whether the field exists."""
        return self._field(number) is not None

    def _followed(self, position: int) -> int:
        return position + _unpacked("<I", self._data, position)

    def _field(self, number: int) -> int | None:
        vtable = self._position - _unpacked("<i", self._data, self._position)
        slot = 4 + 2 * number
        if slot >= _unpacked("<H", self._data, vtable):
            return None
        offset = _unpacked("<H", self._data, vtable + slot)
        return self._position + offset if offset else None


def _unpacked(form: str, data: bytes, position: int) -> int:
    if position < 0:
        # Python would count such a position from the end.
        raise struct.error("a position lies before the beginning")
    value: int = struct.unpack_from(form, data, position)[0]
    return value
