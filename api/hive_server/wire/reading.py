"""Reads the fields of a message whose bytes were checked."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from api.hive_server.wire.thrift_types import (
    FIXED_BYTES,
    Kind,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Struct,
    kind_of,
)
from api.hive_server.wire.unreadable_message import MessageFault

_NUMBERS = {
    kind: struct.Struct(f">{code}")
    for kind, code in (
        (Kind.BOOL, "?"),
        (Kind.BYTE, "b"),
        (Kind.DOUBLE, "d"),
        (Kind.I16, "h"),
        (Kind.I32, "i"),
        (Kind.I64, "q"),
    )
}


class MessageType:
    """The second half of a message's first number."""

    CALL = 1
    REPLY = 2
    EXCEPTION = 3
    ONEWAY = 4


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a message: its type, the name of its method, and the client's number for it."""

    type: int
    name: str
    number: int


class Reader:
    """Reads one message, from its head on. Fields that a shape does not know are left out.

    Raises MessageFault for a value that differs from its shape.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def head(self) -> Head:
        """Reads the head."""
        type_ = int.from_bytes(self._take(4)[2:], "big")
        return Head(type_, _text(self._binary()), self._number(Kind.I32))

    def struct(self, shape: Struct) -> dict[str, Any]:
        """Reads a struct."""
        found: dict[str, Any] = {}
        while (kind := self._take(1)[0]) != Kind.STOP:
            field = shape.fields.get(int.from_bytes(self._take(2), "big", signed=True))
            # A field of another type is another field.
            if field is None or kind_of(field.shape) != kind:
                self._skip(kind)
            else:
                found[field.name] = self._value(field.shape)
        return found

    def _value(self, shape: Shape) -> Any:
        match shape:
            case Scalar(kind=Kind.STRING):
                data = self._binary()
                return data if shape.is_binary else _text(data)
            case Scalar():
                return self._number(shape.kind)
            case Struct():
                return self.struct(shape)
            case ListOf():
                return self._list(shape)
            case MapOf():
                return self._map(shape)
            case _:
                raise MessageFault("there is no such field in a request")

    def _list(self, shape: ListOf) -> list[Any]:
        kind, count = self._take(1)[0], self._number(Kind.I32)
        if count and kind != kind_of(shape.item):
            raise MessageFault("a list has values of another type")
        return [self._value(shape.item) for _ in range(count)]

    def _map(self, shape: MapOf) -> dict[str, Any]:
        kinds, count = self._take(2), self._number(Kind.I32)
        if count and tuple(kinds) != (Kind.STRING, kind_of(shape.value)):
            raise MessageFault("a map has values of another type")
        return {_text(self._binary()): self._value(shape.value) for _ in range(count)}

    def _skip(self, kind: int) -> None:
        if kind in FIXED_BYTES:
            self._take(FIXED_BYTES[kind])
        elif kind == Kind.STRING:
            # Not read as text: some are binary.
            self._binary()
        elif kind == Kind.STRUCT:
            while (inner := self._take(1)[0]) != Kind.STOP:
                self._take(2)
                self._skip(inner)
        else:
            kinds = self._take(2 if kind == Kind.MAP else 1)
            for _ in range(self._number(Kind.I32)):
                for inner in kinds:
                    self._skip(inner)

    def _number(self, kind: Kind) -> Any:
        return _NUMBERS[kind].unpack(self._take(FIXED_BYTES[kind]))[0]

    def _binary(self) -> bytes:
        return self._take(self._number(Kind.I32))

    def _take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise MessageFault("a text is not UTF-8") from None
