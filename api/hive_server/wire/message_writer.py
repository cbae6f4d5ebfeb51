"""Writes messages: a head, and the fields of a struct."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from api.hive_server.wire.reading import Head, MessageType
from api.hive_server.wire.scan import VERSION
from api.hive_server.wire.thrift_types import (
    I32,
    TEXT,
    Field,
    Kind,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Struct,
    Written,
    kind_of,
)

_CODES = {Kind.BOOL: ">?", Kind.BYTE: ">b", Kind.DOUBLE: ">d", Kind.I16: ">h", Kind.I32: ">i", Kind.I64: ">q"}
_EXCEPTION = Struct({1: Field("message", TEXT), 2: Field("type", I32)})
UNKNOWN_METHOD = 1
INTERNAL_ERROR = 6
PROTOCOL_ERROR = 7
"""Types of exceptions of the protocol itself."""


def reply(head: Head, shape: Struct, answer: Mapping[str, Any]) -> bytes:
    """Returns the message that answers a call with a struct, which is its field 0."""
    parts = [_head(head, MessageType.REPLY)]
    _write_struct(Struct({0: Field("success", shape)}), {"success": answer}, parts)
    return b"".join(parts)


def exception(head: Head, type_: int, message: str) -> bytes:
    """Returns the message that answers a call with an exception of the protocol itself."""
    parts = [_head(head, MessageType.EXCEPTION)]
    _write_struct(_EXCEPTION, {"message": message, "type": type_}, parts)
    return b"".join(parts)


def written_binary(data: bytes) -> bytes:
    """Returns a text or binary value: its length, and the bytes."""
    return struct.pack(">i", len(data)) + data


def _head(head: Head, type_: int) -> bytes:
    version = struct.pack(">HH", VERSION, type_)
    return version + written_binary(head.name.encode()) + struct.pack(">i", head.number)


def _write_struct(shape: Struct, values: Mapping[str, Any], parts: list[bytes]) -> None:
    for number, field in shape.fields.items():
        value = values.get(field.name)
        if value is not None:
            parts.append(struct.pack(">bh", kind_of(field.shape), number))
            _write(field.shape, value, parts)
    parts.append(b"\x00")


def _write(shape: Shape, value: Any, parts: list[bytes]) -> None:
    match shape:
        case Scalar(kind=Kind.STRING):
            # A text may have half of a character, which the engine does not promise to leave out.
            data = value if shape.is_binary else value.encode(errors="replace")
            parts.append(written_binary(data))
        case Scalar():
            parts.append(struct.pack(_CODES[shape.kind], value))
        case Struct():
            _write_struct(shape, value, parts)
        case Written():
            parts.append(value)
        case ListOf():
            _write_list(shape, value, parts)
        case MapOf():
            parts.append(struct.pack(">bbi", Kind.STRING, kind_of(shape.value), len(value)))
            for key, item in value.items():
                _write(TEXT, key, parts)
                _write(shape.value, item, parts)


def _write_list(shape: ListOf, values: Sequence[Any], parts: list[bytes]) -> None:
    parts.append(struct.pack(">bi", kind_of(shape.item), len(values)))
    for item in values:
        _write(shape.item, item, parts)
