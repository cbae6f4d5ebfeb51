"""Hostile calls of Arrow Flight SQL: tickets, commands, actions, rows, headers and handles."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.flight as flight
from google.protobuf import any_pb2

from api.flight.wire.messages import SQL_PACKAGE, new, packed
from tests.integration.protocols.flight_speakers import FlightSpeaker, command

INVALID, UNSUPPORTED, UNKNOWN = "FLIGHT_MESSAGE_INVALID", "FLIGHT_NOT_SUPPORTED", "FLIGHT_HANDLE_UNKNOWN"
LARGE = 3 * 1024 * 1024
"""More than one message may have, and less than gRPC takes."""


@dataclass(frozen=True, slots=True)
class FlightCall:
    """A call. `codes` are those that it may get; none for any of the client's own."""

    name: str
    make: Callable[[FlightSpeaker], object]
    codes: frozenset[str] = frozenset()


def _call(name: str, make: Callable[[FlightSpeaker], object], *codes: str) -> FlightCall:
    return FlightCall(name, make, frozenset(codes))


def _any(type_url: str, value: bytes) -> bytes:
    return bytes(any_pb2.Any(type_url=type_url, value=value).SerializeToString())


_URL = f"type.googleapis.com/{SQL_PACKAGE}"
NO_MESSAGES: Mapping[str, bytes] = {
    "empty": b"",
    "garbage": b"\xff\xff\xff\xff\xff",
    "text": b"SELECT 1",
    "java object": b"\xac\xed\x00\x05sr",
    "no type": _any("", b""),
    "another type": _any("type.googleapis.com/google.protobuf.Any", b""),
    "another package": _any("type.googleapis.com/evil.CommandStatementQuery", b""),
    "a type that is none": _any(f"{_URL}.CommandNothing", b""),
    "a type with a path": _any(f"{_URL}.../../etc/passwd", b""),
    "a long type": _any(_URL + "x" * 100_000, b""),
    "a cut value": _any(f"{_URL}.CommandStatementQuery", b"\x0a\xff\xff\xff\xff\x07a"),
    "not utf-8": _any(f"{_URL}.CommandStatementQuery", b"\x0a\x02\xff\xfe"),
    "deep": _any(f"{_URL}.CommandStatementQuery", b"\x0b" * 5_000),
    "large": _any(f"{_URL}.CommandStatementQuery", b"\x0a" + b"\x80\x80\xc0\x01" + b"x" * LARGE),
    "an update": packed(new("DoPutUpdateResult", record_count=1)),
    "substrait": _any(f"{_URL}.CommandStatementSubstraitPlan", b"\x0a\x00"),
    "ingest": _any(f"{_URL}.CommandStatementIngest", b"\x12\x05sales"),
}


def messages() -> Iterator[FlightCall]:
    """Yields bytes that are not a message of the call that has them."""
    for name, data in NO_MESSAGES.items():
        for kind, make in _BY_CALL.items():
            yield FlightCall(f"{kind} {name}", make(data), frozenset({INVALID, UNSUPPORTED}))


Send = Callable[[FlightSpeaker], object]


def _info(data: bytes) -> Send:
    return _info_of(flight.FlightDescriptor.for_command(data))


def _info_of(asked: flight.FlightDescriptor) -> Send:
    return lambda speaker: speaker.client.get_flight_info(asked, speaker.options())


def _put(asked: flight.FlightDescriptor, rows: pa.Table | None = None) -> Send:
    return lambda speaker: speaker.put(asked, rows)


def _get(ticket: bytes) -> Send:
    return lambda speaker: speaker.get(ticket)


def _action(kind: str, body: bytes) -> Send:
    return lambda speaker: speaker.action(kind, body)


def _schema(data: bytes) -> Callable[[FlightSpeaker], object]:
    asked = flight.FlightDescriptor.for_command(data)
    return lambda speaker: speaker.client.get_schema(asked, speaker.options())


_BY_CALL: Mapping[str, Callable[[bytes], Callable[[FlightSpeaker], object]]] = {
    "info": _info,
    "schema": _schema,
    "get": lambda data: lambda speaker: speaker.get(data),
    "put": lambda data: lambda speaker: speaker.put(flight.FlightDescriptor.for_command(data)),
}
ACTIONS = (
    "CreatePreparedStatement",
    "ClosePreparedStatement",
    "CancelFlightInfo",
    "CancelQuery",
    "SetSessionOptions",
    "GetSessionOptions",
    "CloseSession",
)


def paths() -> Iterator[FlightCall]:
    """Yields descriptors of paths, and calls that Flight SQL does not use."""
    for path in ("/etc/passwd", "../..", "sales", "file:///etc/passwd", "", "\0"):
        asked = flight.FlightDescriptor.for_path(path)
        yield _call(f"info {path}", _info_of(asked), INVALID)
        yield _call(f"put {path}", _put(asked), INVALID)
    asked = command("CommandStatementQuery", query="SELECT 1")
    yield _call("exchange", lambda s: s.client.do_exchange(asked, s.options())[1].read_all(), UNSUPPORTED)


def actions() -> Iterator[FlightCall]:
    """Yields actions that there are not, and those with bodies that are none."""
    for kind in (
        "",
        "Nothing",
        "../../etc/passwd",
        "BeginTransaction",
        "EndTransaction",
        "BeginSavepoint",
        "CreatePreparedSubstraitPlan",
        "RenewFlightEndpoint",
        "__class__",
        "x" * 5_000,
        "DropTable",
    ):
        yield _call(f"action {kind[:30]}", _action(kind, b""), UNSUPPORTED)
    for kind in ACTIONS:
        for name, body in {
            "garbage": b"\xff\xff\xff\xff\xff",
            "large": b"\x0a\x80\x80\xc0\x01" + b"x" * LARGE,
        }.items():
            yield _call(f"{kind} {name}", _action(kind, body), INVALID)
    for info in (b"", b"\xff" * 50, b"{}", b"\0" * 500, struct.pack(">i", 2**31 - 1)):
        body = bytes(new("CancelFlightInfoRequest", info=info).SerializeToString())
        yield _call("cancel of no info", _action("CancelFlightInfo", body))
        wrapped = packed(new("ActionCancelQueryRequest", info=info))
        yield _call("cancel of no query", _action("CancelQuery", wrapped))
    for sql in (
        "",
        "SELEC",
        "SELECT 1; SELECT 2",
        "SELECT * FROM `/etc/passwd`",
        "INSERT INTO sales VALUES (1, 2, 3)",
        "SELECT java_method('a', 'b')",
        f"SELECT '{'x' * 300_000}'",
        "SELECT \0",
    ):
        wrapped = packed(new("ActionCreatePreparedStatementRequest", query=sql))
        yield _call(f"prepare {sql[:30]}", _action("CreatePreparedStatement", wrapped))


def updates() -> Iterator[FlightCall]:
    """Yields updates that would change something, and texts that are not updates."""
    for sql in (
        "INSERT INTO sales VALUES (1, 2, 3)",
        "DELETE FROM sales",
        "DROP TABLE sales",
        "TRUNCATE TABLE sales",
        "CREATE TABLE t AS SELECT 1",
        "UPDATE sales SET amount = 1",
        "CALL lake.system.rewrite_data_files('shop.sales')",
        "USE nowhere",
        "USE `../..`",
        "SET spark.jars=/tmp/a.jar",
        "SET spark.sql.catalog.lake.uri=x",
        "CREATE TEMPORARY VIEW v AS SELECT * FROM text.`/etc/passwd`",
        "DROP VIEW lake.shop.sales",
        "SELECT 1",
        "",
    ):
        asked = command("CommandStatementUpdate", query=sql)
        yield _call(f"update {sql[:30]}", _put(asked))


def handles() -> Iterator[FlightCall]:
    """Yields handles that nobody has."""
    found = (
        b"",
        b"\0",
        b"x" * 10_000,
        b"\xff\xfe",
        b"../../etc/passwd",
        b"' OR 1=1",
        str(uuid4()).encode(),
        bytes(16),
    )
    for handle in found:
        ticket = packed(new("TicketStatementQuery", statement_handle=handle))
        yield _call(f"ticket {handle[:20]!r}", _get(ticket), UNKNOWN, "QUERY_NOT_FOUND")
        for name in ("CommandPreparedStatementQuery", "CommandPreparedStatementUpdate"):
            asked = command(name, prepared_statement_handle=handle)
            yield _call(f"put {name} {handle[:20]!r}", _put(asked), UNKNOWN)
        asked = command("CommandPreparedStatementQuery", prepared_statement_handle=handle)
        yield FlightCall(f"info {handle[:20]!r}", _info(asked.command), frozenset({UNKNOWN}))
        yield FlightCall(f"schema {handle[:20]!r}", _schema(asked.command), frozenset({UNKNOWN}))


def others_handles(ticket: bytes, prepared: bytes, session_id: UUID) -> Iterator[FlightCall]:
    """Yields calls with another caller's ticket, prepared statement and session."""
    yield _call("ticket", lambda s: s.get(ticket), "QUERY_NOT_FOUND")
    for name in ("CommandPreparedStatementQuery", "CommandPreparedStatementUpdate"):
        asked = command(name, prepared_statement_handle=prepared)
        yield _call(f"put {name}", _put(asked), UNKNOWN)
    asked = command("CommandPreparedStatementQuery", prepared_statement_handle=prepared)
    yield FlightCall("info", _info(asked.command), frozenset({UNKNOWN}))
    yield FlightCall("schema", _schema(asked.command), frozenset({UNKNOWN}))
    cookie = (b"cookie", f"arrow_flight_session_id={session_id}".encode())
    yield _call("session", lambda s: s.rows("SELECT 1", cookie), "SESSION_NOT_FOUND")
    yield _call("options", lambda s: s.action("GetSessionOptions", b"", cookie), "SESSION_NOT_FOUND")


def bindings(prepared: bytes) -> Iterator[FlightCall]:
    """Yields values that a statement with one parameter does not take."""
    asked = command("CommandPreparedStatementQuery", prepared_statement_handle=prepared)
    for name, rows in {
        "several rows": pa.table({"a": [1, 2]}),
        "a list": pa.table({"a": [[1]]}),
        "a struct": pa.table({"a": [{"b": 1}]}),
        "a map": pa.table({"a": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32()))}),
        "an interval": pa.table({"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}),
        "a duration": pa.table({"a": pa.array([1], pa.duration("s"))}),
        "a time": pa.table({"a": pa.array([1], pa.time32("s"))}),
        "nan": pa.table({"a": [float("nan")]}),
        "infinity": pa.table({"a": [float("inf")]}),
        "a date beyond all": pa.table({"a": pa.array([2**31 - 1], pa.date32())}),
        "a finer moment": pa.table({"a": pa.array([1], pa.timestamp("ns"))}),
        "a text that is too large": pa.table({"a": ["x" * LARGE]}),
        "too many values": pa.table({f"c{at}": [1] for at in range(5_000)}),
        "more values than it has": pa.table({"a": [1], "b": [2]}),
        "a huge decimal": pa.table({"a": pa.array([1], pa.decimal256(76, 0))}),
        "binary that is no text": pa.table({"a": pa.array([b"\xff" * LARGE])}),
    }.items():
        yield _call(name, _put(asked, rows))


def options() -> Mapping[str, str]:
    """Returns options that no session takes."""
    return {
        "catalog": "nowhere",
        "schema": "../..",
        "spark.jars": "/tmp/a.jar",
        "spark.sql.catalog.lake.uri": "x",
        "spark.hadoop.fs.s3a.secret.key": "x",
        "": "x",
        "x" * 5_000: "y",
        "spark.sql.session.timeZone": "../../etc/localtime",
        "spark.sql.ansi.enabled": "perhaps",
    }


RAW: Mapping[str, bytes] = {
    "http": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "garbage": b"\xff" * 5_000,
    "zeros": bytes(5_000),
    "preface and garbage": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 500,
    "preface and a huge frame": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
    "many settings": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x01" * 100,
    "thrift": b"\x80\x01\x00\x01" + struct.pack(">i", 7) + b"GetInfo" + bytes(5),
}
"""Bytes that gRPC does not know."""
