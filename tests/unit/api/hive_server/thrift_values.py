"""Reads and writes messages with Apache Thrift's own library, which knows nothing of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer

from api.hive_server.wire.thrift_types import Kind, ListOf, MapOf, Scalar, Shape, Struct, kind_of


@dataclass(frozen=True)
class Reply:
    """A message: its name, its type, its number, and its fields by number."""

    name: str
    type: int
    number: int
    fields: dict[int, Any]


def read_reply(data: bytes) -> Reply:
    protocol = TBinaryProtocol(TMemoryBuffer(data))
    name, type_, number = protocol.readMessageBegin()
    fields = read_value(protocol, TType.STRUCT)
    assert protocol.trans.read(1) == b""
    return Reply(name, type_, number, fields)


def read_struct(data: bytes) -> dict[int, Any]:
    """Reads a struct that has nothing behind it."""
    protocol = TBinaryProtocol(TMemoryBuffer(data))
    found: dict[int, Any] = read_value(protocol, TType.STRUCT)
    assert protocol.trans.read(1) == b""
    return found


def read_value(protocol: TBinaryProtocol, kind: int) -> Any:
    """Reads any value; texts are bytes."""
    match kind:
        case TType.STRUCT:
            found: dict[int, Any] = {}
            while True:
                _, inner, number = protocol.readFieldBegin()
                if inner == TType.STOP:
                    return found
                found[number] = read_value(protocol, inner)
        case TType.LIST:
            inner, count = protocol.readListBegin()
            return [read_value(protocol, inner) for _ in range(count)]
        case TType.MAP:
            key, value, count = protocol.readMapBegin()
            return {read_value(protocol, key): read_value(protocol, value) for _ in range(count)}
        case TType.STRING:
            return protocol.readBinary()
        case _:
            reads: dict[int, Callable[[], Any]] = {
                TType.BOOL: protocol.readBool,
                TType.BYTE: protocol.readByte,
                TType.I16: protocol.readI16,
                TType.I32: protocol.readI32,
                TType.I64: protocol.readI64,
                TType.DOUBLE: protocol.readDouble,
            }
            return reads[kind]()


def written_call(method: str, shape: Struct, request: Mapping[str, Any], number: int = 1) -> bytes:
    """Returns the call of a method, as a client writes it."""
    out = TMemoryBuffer()
    protocol = TBinaryProtocol(out)
    protocol.writeMessageBegin(method, 1, number)
    protocol.writeFieldBegin("req", TType.STRUCT, 1)
    write_value(protocol, shape, request)
    protocol.writeFieldStop()
    data: bytes = out.getvalue()
    return data


def write_value(protocol: TBinaryProtocol, shape: Shape, value: Any) -> None:
    """Writes a value of any shape that requests have."""
    match shape:
        case Struct():
            for number, field in shape.fields.items():
                if field.name in value:
                    protocol.writeFieldBegin(field.name, kind_of(field.shape), number)
                    write_value(protocol, field.shape, value[field.name])
            protocol.writeFieldStop()
        case ListOf():
            _write_list(protocol, shape, value)
        case MapOf():
            protocol.writeMapBegin(TType.STRING, kind_of(shape.value), len(value))
            for key, item in value.items():
                protocol.writeString(key)
                write_value(protocol, shape.value, item)
        case Scalar():
            _write_scalar(protocol, shape, value)


def _write_list(protocol: TBinaryProtocol, shape: ListOf, values: list[Any]) -> None:
    protocol.writeListBegin(kind_of(shape.item), len(values))
    for item in values:
        write_value(protocol, shape.item, item)


def _write_scalar(protocol: TBinaryProtocol, shape: Scalar, value: Any) -> None:
    if shape.kind is Kind.STRING:
        protocol.writeBinary(value if shape.is_binary else value.encode())
        return
    writes: dict[Kind, Callable[[Any], None]] = {
        Kind.BOOL: protocol.writeBool,
        Kind.BYTE: protocol.writeByte,
        Kind.I16: protocol.writeI16,
        Kind.I32: protocol.writeI32,
        Kind.I64: protocol.writeI64,
        Kind.DOUBLE: protocol.writeDouble,
    }
    writes[shape.kind](value)
