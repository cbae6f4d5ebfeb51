"""Hostile bytes and calls of HiveServer2's protocol: handshakes, frames, messages, names and handles."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from api.hive_server.calls.methods import METHODS
from api.hive_server.calls.protocol_numbers import V10
from api.hive_server.calls.session_handles import SessionHandle, written_handle
from tests.integration.hostile_texts import PATHS
from tests.unit.api.hive_server.thrift_values import written_call

HEAD = b"\x80\x01\x00\x01"
HUGE = 2**31 - 1


def _start(mechanism: bytes) -> bytes:
    return struct.pack(">bi", 1, len(mechanism)) + mechanism


HANDSHAKES: Mapping[str, bytes] = {
    "http": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "ssh": b"SSH-2.0-OpenSSH_9.0\r\n",
    "postgres": struct.pack(">ii", 8, 80877103),
    "java object": b"\xac\xed\x00\x05sr" + bytes(32),
    "without sasl": HEAD + struct.pack(">i", 11) + b"OpenSession" + bytes(8),
    "zeros": bytes(64),
    "no status": b"\x09" + struct.pack(">i", 0),
    "2 GB": struct.pack(">bi", 1, HUGE),
    "negative": struct.pack(">bi", 1, -1),
    "beyond the bound": struct.pack(">bi", 1, 70_000),
    "client's error": _start(b"PLAIN") + struct.pack(">bi", 4, 0),
    "complete at once": struct.pack(">bi", 5, 0),
    "2 GB of credentials": _start(b"PLAIN") + struct.pack(">bi", 2, HUGE),
    "negative credentials": _start(b"PLAIN") + struct.pack(">bi", 2, -7),
}
"""Bytes before a login. The connection ends."""

TOKENS: Mapping[str, bytes] = {
    "empty": b"",
    "no parts": b"kim",
    "two parts": b"\0kim",
    "four parts": b"\0kim\0x\0y",
    "another's name": b"admin\0kim\0x",
    "not utf-8": b"\0\xff\xfe\0x",
    "password not utf-8": b"\0kim\0\xff",
    "many zeros": bytes(5_000),
}
"""Messages of the mechanism PLAIN that are none."""
MECHANISMS = (
    b"GSSAPI",
    b"ANONYMOUS",
    b"EXTERNAL",
    b"DIGEST-MD5",
    b"plain",
    b"",
    b"\0\xff",
    b"KERBEROS" * 1_000,
)


def _call(method: bytes, fields: bytes) -> bytes:
    return HEAD + struct.pack(">i", len(method)) + method + struct.pack(">i", 1) + fields


_EXECUTE = b"ExecuteStatement"
_ARGUMENT = b"\x0c\x00\x01"
"""The head of a call's first argument, which is a struct."""
MESSAGES: Mapping[str, bytes] = {
    "garbage": b"not thrift",
    "old version": struct.pack(">i", 7) + b"GetInfo\x01" + bytes(5),
    "compact protocol": b"\x82\x21\x01\x07GetInfo\x00",
    "json protocol": b'[1,"GetInfo",1,1,{}]',
    "name of 2 GB": HEAD + struct.pack(">i", HUGE) + bytes(8),
    "negative name": HEAD + struct.pack(">i", -1) + bytes(8),
    "name is not utf-8": _call(b"\xff\xfe", b"\x00"),
    "deep structs": _call(_EXECUTE, b"\x0c\0\1" * 1_000),
    "deep lists": _call(_EXECUTE, b"\x0f\0\1" + b"\x0f\0\0\0\1" * 1_000),
    "list of 2 billion": _call(_EXECUTE, b"\x0f\0\1\x0c" + struct.pack(">i", HUGE)),
    "negative list": _call(_EXECUTE, b"\x0f\0\1\x0c" + struct.pack(">i", -1)),
    "map of 2 billion": _call(_EXECUTE, b"\x0d\0\1\x0b\x0b" + struct.pack(">i", HUGE)),
    "unknown type": _call(_EXECUTE, b"\x63\0\1"),
    "type of nothing": _call(_EXECUTE, b"\x01\0\1"),
    "text of 2 GB": _call(_EXECUTE, _ARGUMENT + b"\x0b\0\2" + struct.pack(">i", HUGE)),
    "text is not utf-8": _call(_EXECUTE, _ARGUMENT + b"\x0b\0\2" + struct.pack(">i", 2) + b"\xff\xfe\0\0"),
    "list of another type": _call(
        b"GetTables", _ARGUMENT + b"\x0f\0\5\x08" + struct.pack(">ii", 1, 7) + b"\0\0"
    ),
    "map of another type": _call(
        _EXECUTE, _ARGUMENT + b"\x0d\0\3\x08\x08" + struct.pack(">iii", 1, 1, 1) + b"\0\0"
    ),
}
"""Bytes that are not a message, without a frame. The connection ends after an exception of the protocol."""
FRAMES: Mapping[str, bytes] = {
    "frame of 2 GB": struct.pack(">i", HUGE),
    "negative frame": struct.pack(">i", -1),
    "beyond the bound": struct.pack(">i", 300 * 1024 * 1024),
    "http": b"POST /cliservice HTTP/1.1\r\n\r\n",
}
"""Bytes that are not a frame, after a login."""
UNKNOWN: Mapping[str, bytes] = {
    name: _call(name.encode()[:200], b"\x00")
    for name in (
        "",
        "Nothing",
        "../../etc/passwd",
        "__class__",
        "UploadData",
        "executestatement",
        "ExecuteStatement\0",
    )
} | {
    "reply": b"\x80\x01\x00\x02" + struct.pack(">i", 7) + b"GetInfo" + bytes(5),
    "one way": b"\x80\x01\x00\x04" + struct.pack(">i", 7) + b"GetInfo" + bytes(5),
}
"""Messages for methods that there are not. The connection goes on."""


@dataclass(frozen=True, slots=True)
class HiveCall:
    """A call in the right form. `codes` are those that it may get; none for any of the client's own."""

    name: str
    method: str
    request: Mapping[str, Any]
    codes: frozenset[str] = frozenset()


def openings() -> Iterator[HiveCall]:
    """Yields sessions that nobody may open."""

    def call(name: str, *codes: str, protocol: int = V10, configuration: Mapping[str, str] = {}) -> HiveCall:
        request = {"client_protocol": protocol, "configuration": configuration}
        return HiveCall(name, "OpenSession", request, frozenset(codes))

    refused = "SESSION_SETTING_REFUSED"
    yield call("an old version", "STATEMENT_NOT_ALLOWED", protocol=0)
    yield call("a negative version", "STATEMENT_NOT_ALLOWED", protocol=-(2**31))
    for name in ("victim", "root", "'", "x" * 5_000):
        yield call("a proxy user", "UNAUTHENTICATED", configuration={"hive.server2.proxy.user": name})
    for name in (
        "..",
        "nowhere",
        "`",
        "lake.nowhere",
        "nowhere.shop",
        "a.b.c.d",
        "\0",
        "shop; DROP",
        "x" * 5_000,
        *PATHS,
    ):
        yield call(f"schema {name[:20]}", "SQL_INVALID", configuration={"use:database": name})
        yield call(f"catalog {name[:20]}", "SQL_INVALID", configuration={"use:catalog": name})
    for name, value in {
        "spark.jars": "/tmp/a.jar",
        "spark.driver.extraJavaOptions": "-agentlib:x",
        "set:hiveconf:spark.jars.packages": "a:b:1",
        "set:hivevar:x": "1",
        "spark.sql.warehouse.dir": "file:/etc",
        "spark.sql.catalog.lake.uri": "jdbc:postgresql://127.0.0.1/x",
        "spark.hadoop.fs.s3a.secret.key": "x",
        "spark.sql.ansi.enabled": "perhaps",
        "spark.sql.session.timeZone": "../../etc/localtime",
        "set:system:user.name": "root",
        "": "x",
        "x" * 5_000: "y",
        "spark.sql.shuffle.partitions": "2000000000",
    }.items():
        yield call(f"setting {name[:40]}", refused, configuration={name: value})


def statements(session: Mapping[str, Any]) -> Iterator[HiveCall]:
    """Yields statements that are not SQL, or have something odd around them."""

    def call(name: str, sql: str, *codes: str, **more: Any) -> HiveCall:
        return HiveCall(name, "ExecuteStatement", {**session, "statement": sql, **more}, frozenset(codes))

    for name, sql in {
        "empty": "",
        "blank": " \n",
        "comment": "-- x",
        "nul": "SELECT 1 \0 FROM",
        "only nul": "\0",
    }.items():
        yield call(name, sql)
    yield call("half a character", "SELECT `\ufffe`")
    yield call("deep", "SELECT " + "(" * 20_000 + "1" + ")" * 20_000)
    for setting in ("spark.jars", "spark.sql.ansi.enabled", "set:hivevar:x", ""):
        yield call("its own settings", "SELECT 1", "SESSION_SETTING_REFUSED", confOverlay={setting: "true"})
    for sql in (
        "USE `..`",
        "USE nowhere",
        "USE lake.nowhere",
        "USE `/etc/passwd`",
        "SET spark.jars=/tmp/a.jar",
        "SET spark.sql.catalog.lake.uri=x",
        "RESET spark.jars",
        "SET spark.sql.warehouse.dir=/etc",
        "CREATE TEMPORARY VIEW v AS SELECT * FROM parquet.`/etc/passwd`",
        "CREATE TEMPORARY VIEW v AS SELECT java_method('a', 'b')",
        "CREATE TABLE t AS SELECT 1",
        "CREATE VIEW lake.shop.v AS SELECT 1",
        "DROP VIEW lake.shop.sales",
        "DESCRIBE `/etc/passwd`",
        "SHOW TABLES IN `..`",
        "SHOW COLUMNS IN parquet.`/etc/passwd`",
        "EXPLAIN INSERT INTO sales VALUES (1, 2, 3)",
        "DESCRIBE EXTENDED text.`/etc/passwd`",
    ):
        yield call(sql[:50], sql)
    yield HiveCall("a delegation token", "GetDelegationToken", session, frozenset({"STATEMENT_NOT_ALLOWED"}))


def listings(session: Mapping[str, Any]) -> Iterator[HiveCall]:
    """Yields listings of names that are none. They have no rows, and take no time."""
    for name in (
        "..",
        "/etc/passwd",
        "' OR 1=1 --",
        "\0",
        "(a+)+$",
        "%a" * 400 + "$",
        "\\",
        "[",
        "x" * 100_000,
        "`;DROP",
    ):
        for method, field in (
            ("GetSchemas", "schemaName"),
            ("GetTables", "tableName"),
            ("GetColumns", "columnName"),
            ("GetTables", "catalogName"),
            ("GetFunctions", "functionName"),
        ):
            yield HiveCall(f"{method} {field} {name[:20]}", method, {**session, field: name})


_OF_SESSIONS = sorted(
    name
    for name, method in METHODS.items()
    if any(field.name == "sessionHandle" for field in method.request.fields.values())
    and "Delegation" not in name
)
_OF_OPERATIONS = ("GetOperationStatus", "FetchResults", "GetResultSetMetadata", "GetLog", "GetQueryId")
_IDS: Mapping[str, Mapping[str, bytes]] = {
    "empty": {"guid": b"", "secret": b""},
    "zeros": {"guid": bytes(16), "secret": bytes(16)},
    "short": {"guid": b"\1", "secret": b"\1"},
    "long": {"guid": b"\1" * 5_000, "secret": b"\1" * 5_000},
    "invented": {"guid": uuid4().bytes, "secret": b"\7" * 16},
}


def invented_handles() -> Iterator[HiveCall]:
    """Yields calls with handles that nobody has."""
    sessions, operations = frozenset({"SESSION_NOT_FOUND"}), frozenset({"QUERY_NOT_FOUND"})
    for name, found in _IDS.items():
        for method in _OF_SESSIONS:
            yield HiveCall(f"{method} {name}", method, {"sessionHandle": {"sessionId": found}}, sessions)
        for method in _OF_OPERATIONS:
            yield HiveCall(
                f"{method} {name}", method, {"operationHandle": {"operationId": found}}, operations
            )
    for method in _OF_SESSIONS:
        yield HiveCall(f"{method} none", method, {}, sessions)
    for method in _OF_OPERATIONS:
        yield HiveCall(f"{method} none", method, {}, operations)


def others_handles(role: str, session: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[HiveCall]:
    """Yields calls with the handles of another caller, as they are and with a secret of the caller's own.

    GetInfo and SetClientInfo know nothing of a session, and CloseSession says only that it is closed.
    """
    sessions, operations = frozenset({"SESSION_NOT_FOUND"}), frozenset({"QUERY_NOT_FOUND"})
    for method in _OF_SESSIONS:
        yield HiveCall(f"{method} another's session", method, session, sessions)
    own = own_handle_on(role, session)
    for method in _OF_SESSIONS:
        if method not in ("GetInfo", "SetClientInfo", "CloseSession"):
            yield HiveCall(f"{method} forged session", method, {**own, "statement": "SELECT 1"}, sessions)
    for method in _OF_OPERATIONS:
        yield HiveCall(f"{method} another's operation", method, operation, operations)
    guid = operation["operationHandle"]["operationId"]["guid"]
    for secret in (b"", bytes(16), b"\xff" * 16):
        forged = {"operationHandle": {"operationId": {"guid": guid, "secret": secret}}}
        for method in _OF_OPERATIONS:
            yield HiveCall(f"{method} forged operation", method, forged, operations)


def own_handle_on(role: str, session: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a handle with another caller's session, and the secret that the role can make for it."""
    session_id = UUID(bytes=session["sessionHandle"]["sessionId"]["guid"])
    return {"sessionHandle": written_handle(SessionHandle(session_id, V10, is_plain=False), role)}


def fetches(operation: Mapping[str, Any]) -> Iterator[HiveCall]:
    """Yields fetches that no result answers."""
    for orientation in (1, 2, 3, 5, 99, -1, 2**31 - 1):
        request = {**operation, "orientation": orientation, "maxRows": 1}
        yield HiveCall(f"orientation {orientation}", "FetchResults", request, frozenset({"SQL_INVALID"}))


def message_of(call: HiveCall) -> bytes:
    """Returns the bytes of a call."""
    return written_call(call.method, METHODS[call.method].request, call.request)
