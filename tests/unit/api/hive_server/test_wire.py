"""Tests the form of messages against Apache Thrift's own library, and against hostile bytes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.hive_server.wire import structs
from api.hive_server.wire.message_writer import exception, reply
from api.hive_server.wire.reading import Head, MessageType, Reader
from api.hive_server.wire.scan import MessageBounds, check_message
from api.hive_server.wire.thrift_types import (
    BINARY,
    BOOL,
    DOUBLE,
    I16,
    I32,
    I64,
    TEXT,
    Field,
    Kind,
    ListOf,
    MapOf,
    Shape,
    Struct,
)
from api.hive_server.wire.unreadable_message import MessageFault
from tests.unit.api.hive_server.thrift_values import read_reply, written_call

BOUNDS = MessageBounds(64 * 1024, 8)
INNER = Struct({1: Field("guid", BINARY), 3: Field("name", TEXT)})
EVERYTHING = Struct(
    {
        1: Field("flag", BOOL),
        2: Field("short", I16),
        3: Field("number", I32),
        4: Field("long", I64),
        5: Field("double", DOUBLE),
        6: Field("text", TEXT),
        7: Field("binary", BINARY),
        8: Field("inner", INNER),
        9: Field("names", ListOf(TEXT)),
        10: Field("inners", ListOf(INNER)),
        11: Field("settings", MapOf(TEXT)),
        300: Field("flags", ListOf(BOOL)),
    }
)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUES = {
    BOOL: st.booleans(),
    I16: st.integers(-(2**15), 2**15 - 1),
    I32: st.integers(-(2**31), 2**31 - 1),
    I64: st.integers(-(2**63), 2**63 - 1),
    DOUBLE: st.floats(allow_nan=False),
    TEXT: _TEXTS,
    BINARY: st.binary(max_size=16),
}


def values(shape: Shape) -> st.SearchStrategy[Any]:
    match shape:
        case Struct():
            fields = {field.name: values(field.shape) for field in shape.fields.values()}
            return st.fixed_dictionaries({}, optional=fields)
        case ListOf():
            return st.lists(values(shape.item), max_size=3)
        case MapOf():
            return st.dictionaries(_TEXTS, values(shape.value), max_size=3)
        case _:
            return _VALUES[shape]  # type: ignore[index]


def read(message: bytes, shape: Struct) -> dict[str, Any]:
    check_message(message, BOUNDS)
    reader = Reader(message)
    reader.head()
    found: dict[str, Any] = reader.struct(Struct({1: Field("request", shape)}))["request"]
    return found


def by_number(shape: Shape, value: Any) -> Any:
    """Returns a value as the other library reads it."""
    match shape:
        case Struct():
            return {
                number: by_number(field.shape, value[field.name])
                for number, field in shape.fields.items()
                if field.name in value
            }
        case ListOf():
            return [by_number(shape.item, item) for item in value]
        case MapOf():
            return {key.encode(): by_number(shape.value, item) for key, item in value.items()}
        case _:
            return value.encode() if shape == TEXT else value


@given(sent=values(EVERYTHING))
def test_requests_are_read_as_they_were_sent(sent: dict[str, Any]) -> None:
    assert read(written_call("Any", EVERYTHING, sent), EVERYTHING) == sent


@given(answered=values(EVERYTHING))
def test_answers_are_read_by_the_other_library(answered: dict[str, Any]) -> None:
    found = read_reply(reply(Head(1, "Any", 7), EVERYTHING, answered))
    assert (found.name, found.type, found.number) == ("Any", MessageType.REPLY, 7)
    assert found.fields == {0: by_number(EVERYTHING, answered)}


@given(sent=values(EVERYTHING))
def test_fields_that_are_not_known_are_skipped_whatever_they_have(sent: dict[str, Any]) -> None:
    known = Struct({3: Field("number", I32), 6: Field("text", TEXT)})
    expected = {name: value for name, value in sent.items() if name in ("number", "text")}
    assert read(written_call("Any", EVERYTHING, sent), known) == expected


def test_fields_of_another_type_are_not_those_that_are_meant() -> None:
    sent = written_call("Any", Struct({1: Field("guid", I32)}), {"guid": 7})
    assert read(sent, INNER) == {}


def test_an_exception_is_read_by_the_other_library() -> None:
    found = read_reply(exception(Head(1, "Nothing", 3), 1, "no such method"))
    assert (found.type, found.fields) == (MessageType.EXCEPTION, {1: b"no such method", 2: 1})


@given(sent=values(EVERYTHING), cut=st.floats(0, 1, exclude_max=True))
def test_a_message_that_ends_early_is_refused(sent: dict[str, Any], cut: float) -> None:
    message = written_call("Any", EVERYTHING, sent)
    with pytest.raises(MessageFault):
        check_message(message[: int(len(message) * cut)], BOUNDS)
    with pytest.raises(MessageFault):
        check_message(message + b"\0", BOUNDS)


@given(
    sent=values(EVERYTHING), changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4)
)
def test_changed_bytes_are_a_message_or_a_fault(sent: dict[str, Any], changes: list[tuple[int, int]]) -> None:
    message = bytearray(written_call("Any", EVERYTHING, sent))
    for place, byte in changes:
        message[place % len(message)] = byte
    try:
        check_message(bytes(message), BOUNDS)
        reader = Reader(bytes(message))
        reader.head()
        reader.struct(Struct({1: Field("request", EVERYTHING)}))
    except MessageFault:
        return


@given(data=st.binary(max_size=64))
def test_any_bytes_are_a_message_or_a_fault(data: bytes) -> None:
    try:
        check_message(b"\x80\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01" + data, BOUNDS)
    except MessageFault:
        return


@pytest.mark.parametrize("count", [2**31 - 1, -1, 70_000])
@pytest.mark.parametrize("kind", [Kind.STRING, Kind.LIST, Kind.MAP])
def test_lengths_beyond_the_bound_are_refused_before_anything_is_kept(count: int, kind: Kind) -> None:
    head = b"\x80\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
    types = {Kind.LIST: b"\x02", Kind.MAP: b"\x0b\x0b"}.get(kind, b"")
    body = bytes([kind]) + b"\x00\x01" + types + struct.pack(">i", count)
    with pytest.raises(MessageFault):
        check_message(head + body, BOUNDS)


@pytest.mark.parametrize(
    ("first", "level"), [(b"", b"\x0c\x00\x01"), (b"\x0f\x00\x01", b"\x0f\x00\x00\x00\x01")]
)
def test_deep_messages_are_refused(first: bytes, level: bytes) -> None:
    head = b"\x80\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01" + first
    with pytest.raises(MessageFault, match="levels"):
        check_message(head + level * 2_000, BOUNDS)


def test_a_text_that_is_not_utf_8_is_a_fault() -> None:
    as_binary = Struct({2: Field("statement", BINARY)})
    sent = written_call("ExecuteStatement", as_binary, {"statement": b"\xff\xfe"})
    with pytest.raises(MessageFault):
        read(sent, structs.EXECUTE)
