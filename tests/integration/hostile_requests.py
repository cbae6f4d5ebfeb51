"""Requests that only attackers send: SQL, names, paths, headers, bodies and addresses of sources.

Each is one HTTP request as bytes, so that it may be one that no client library sends. None has credentials:
those with wrong ones are in `tests/unit/api/http/authentication/hostile_credentials.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.integration.hostile_texts import PATHS, hostile_texts

SECRETS = ("root:x:", "daemon:", "BEGIN PRIVATE KEY", "java.lang", "Traceback", "\tat org.")
"""Parts of files and stacks that no answer may have."""
ANY = frozenset[str]()
"""Any code of an error that is the caller's."""


@dataclass(frozen=True, slots=True)
class HostileRequest:
    """One request. `codes` are those that it may get; empty for any that is the caller's own mistake."""

    kind: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    codes: frozenset[str] = ANY

    def as_bytes(self, host: str, role_headers: Mapping[str, str]) -> bytes:
        """Returns the request as it is sent. A header of its own replaces the usual one."""
        own = {name.lower() for name, _ in self.headers}
        usual = {"Host": host, "Connection": "close", **role_headers}
        if self.content:
            usual |= {"Content-Type": "application/json", "Content-Length": str(len(self.content))}
        lines = [f"{name}: {value}" for name, value in usual.items() if name.lower() not in own]
        lines += [f"{name}: {value}" for name, value in self.headers]
        head = "\r\n".join([f"{self.method} {self.target} HTTP/1.1", *lines, "", ""])
        return head.encode("utf-8", "surrogateescape") + self.content


def all_hostile_requests() -> list[HostileRequest]:
    """Returns every request, those of one kind together."""
    return [*_sql(), *_names(), *_targets(), *_headers(), *_bodies(), *_sources()]


def _sql() -> Iterator[HostileRequest]:
    for text in hostile_texts():
        yield _query(text.sql, *text.codes)
    for path in PATHS:
        yield _query("SELECT 1", "SQL_SYNTAX", schema=f"`{path}")


def _query(sql: str, *codes: str, **body: Any) -> HostileRequest:
    content = json.dumps({"sql": sql, "waitTimeout": "50s"} | body).encode()
    return HostileRequest("sql", "POST", "/query", content=content, codes=frozenset(codes))


_NAMES = (
    "..",
    ".",
    "...",
    "a",
    "a.b",
    "lake.shop.sales.extra.parts.more",
    "lake..sales",
    "lake.shop.%2e%2e",
    "lake.shop.a%00b",
    "lake.shop.%0d%0aSet-Cookie:x=1",
    "lake.shop.'%20OR%201=1",
    "lake.shop.%60;DROP%20TABLE%20x",
    "lake.shop.%F0%9F%98%80",
    "lake.shop.%ff%fe",
    "nowhere.shop.sales",
    "lake.nowhere.sales",
    "lake.shop.nowhere",
    "lake.shop." + "x" * 300,
    "x" * 3000,
    "lake.shop.sales.files.files",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "file:%2f%2f%2fetc%2fpasswd",
)


def _names() -> Iterator[HostileRequest]:
    for name in _NAMES:
        yield HostileRequest("name", "GET", f"/tables/{name}")
        yield HostileRequest("name", "POST", f"/tables/{name}/maintenance", content=b"{}")
        yield HostileRequest("name", "GET", f"/query/{name}")
        yield HostileRequest("name", "GET", f"/explain/{name}")


def _targets() -> Iterator[HostileRequest]:
    for target in (
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/static/../../../etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/.git/config",
        "/.env",
        "/proc/self/environ",
        "/query/../../etc/passwd",
        "/query/;jsessionid=1",
        "/query/%00",
        "/actuator/env",
        "/server-status",
        "/wp-admin",
        "/cgi-bin/sh",
        "/query?" + "a=1&" * 5000,
        "/tables?schema=%00",
        "/tables?schema=" + "x" * 5000,
        "/tables?limit=-1",
        "/tables?limit=99999999999999999999",
        "/query?state=%27%20OR%201=1",
        "/query?limit=1e9",
        "/ingest?table=..%2f..",
        "http://169.254.169.254/latest/meta-data",
        "*",
        "",
        "/\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    ):
        yield HostileRequest("path", "GET", target)
    for method in ("TRACE", "CONNECT", "PUT", "PATCH", "DELETE", "PROPFIND", "SELECT", "get", "G\tT"):
        yield HostileRequest("path", method, "/query")


_VALUES: Mapping[str, tuple[str, ...]] = {
    "Host": (
        "evil.example",
        "127.0.0.1.evil.example",
        "169.254.169.254",
        "localhost@evil",
        "a b",
        "\x7f",
        "[::",
    ),
    "Content-Length": ("-1", "0x10", "1e3", "99999999999999999999", "+41", "41, 41", "41 41", "", "41\t1"),
    "Transfer-Encoding": (
        "chunked, identity",
        "gzip, chunked",
        "xchunked",
        " chunked",
        "chunked, chunked",
        "identity",
    ),
    "Content-Type": (
        "text/plain",
        "application/xml",
        "application/x-java-serialized-object",
        "../..",
        "a/b;" * 50,
    ),
    "Content-Encoding": ("br", "deflate", "gzip, gzip", "compress", "zstd, gzip", "../x", "gzip", "zstd"),
}


def _headers() -> Iterator[HostileRequest]:
    body = b'{"sql": "SELECT 1", "waitTimeout": "50s"}'
    for name, values in _VALUES.items():
        for value in values:
            yield HostileRequest("header", "POST", "/query", ((name, value),), body)
    yield from _odd_lines(body)


def _odd_lines(body: bytes) -> Iterator[HostileRequest]:
    many = tuple((f"X-{at}", "1") for at in range(500))
    for headers in (
        (("Transfer-Encoding", "chunked"), ("Content-Length", str(len(body)))),
        (("Content-Length", "41"), ("Content-Length", "42")),
        (("X-Long", "x" * 100_000),),
        many,
        (("X Space", "1"),),
        (("X-Folded", "1\r\n 2"),),
        (("X-Nul", "a\0b"),),
        ((" Leading", "1"),),
        (("Upgrade", "h2c"), ("Connection", "Upgrade"), ("Content-Length", "-5")),
    ):
        yield HostileRequest("header", "POST", "/query", headers, body)


def _bodies() -> Iterator[HostileRequest]:
    for content in (
        b"{",
        b"SELECT 1",
        b"\xff\xfe",
        b"\x00",
        b'{"sql": "SELECT 1"} {}',
        b"[" * 50_000,
        b'{"a":' * 50_000,
        b'{"sql": NaN}',
        b'{"sql": 1e999999}',
        b'{"sql": ' + b"9" * 100_000 + b"}",
        b'{"sql": "SELECT \\ud800"}',
        b'{"sql": "\\u0000"}',
        b'{"__proto__": {"sql": "SELECT 1"}}',
        b'{"@type": "java.lang.Runtime"}',
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        b"!!python/object/apply:os.system ['id']",
        b"sql=SELECT+1",
        b"\xac\xed\x00\x05sr",
        b"null",
        b"[]",
        b'"SELECT 1"',
        b"true",
        b"{}",
    ):
        yield HostileRequest("body", "POST", "/query", content=content)
        yield HostileRequest("body", "POST", "/ingest", content=content)
    fields: dict[str, Sequence[object]] = {
        "sql": [None, 1, [], {}, True, "", " ", ";", "--", "\x00"],
        "parameters": [
            1,
            "a",
            {"a": {"value": [1]}},
            {"a": {"kind": 1}},
            [[1]],
            {"a": {"value": 1, "type": "X"}},
        ],
        "catalog": [1, "", "../..", "lake; DROP", "`", "\x00"],
        "schema": [1, "", "../..", "`", "\x00", "a" * 5000],
        "waitTimeout": [1, "-1s", "1e9s", "P1Y", "99999999s", "\x00"],
        "timeout": [0, "-1s", "NaNs", "99999999s"],
        "rowLimit": [-1, 0, 1e30, "1", 10**30],
        "byteLimit": [-1, 0, "1", 10**30],
        "format": ["XML", 1, "../..", ""],
        "requestId": ["../..", 1, "x" * 5000, "' OR 1=1"],
        "tags": [1, [], {"a": {}}, {"": "x" * 100_000}],
        "dynamicFiltering": ["EVERYTHING", 1],
        "role": ["admin"],
        "user": ["root"],
        "__class__": ["x"],
        "properties": [{"spark.sql.ansi.enabled": "false"}],
        "conf": [{"spark.jars": "/tmp/a.jar"}],
    }
    for name, values in fields.items():
        for value in values:
            if value is not None or name == "sql":
                content = json.dumps({"sql": "SELECT 1"} | {name: value}).encode()
                yield HostileRequest("body", "POST", "/query", content=content)


def _sources() -> Iterator[HostileRequest]:
    for uri in (
        *PATHS,
        "file:///etc/shadow",
        "file://localhost/etc/passwd",
        "file:/proc/self/environ",
        "file:///etc/%2e%2e/etc/passwd",
        "file:///sources/../../etc/passwd",
        "FILE:///etc/passwd",
        "gopher://127.0.0.1:6379/_INFO",
        "ftp://127.0.0.1/a",
        "https://169.254.169.254/latest/meta-data/iam",
        "s3://169.254.169.254/x",
        "s3://bucket@evil/x",
        "data:text/plain,a",
        "jdbc:postgresql://127.0.0.1/x",
        "\x00",
        "",
        " ",
        "file:///" + "*/" * 500,
        "file:///etc/[a-",
        "a" * 10_000,
        "//etc/passwd",
        "\\\\server\\share",
        "C:\\windows\\win.ini",
    ):
        source = {"uri": uri, "format": "ndjson"}
        content = json.dumps(
            {"table": "lake.shop.sales", "writeSchema": ["sale_id"], "source": source}
        ).encode()
        yield HostileRequest("uri", "POST", "/ingest", content=content)
    for name, value in {
        "location": "file:///tmp/elsewhere",
        "write.data.path": "file:///etc",
        "write.metadata.path": "s3://elsewhere",
        "write.object-storage.path": "/tmp",
        "write.location-provider.impl": "evil.Provider",
        "io-impl": "evil.IO",
        "write.parquet.compression-codec": "evil",
        "read.split.target-size": "-1",
        "format-version": "3",
        "commit.retry.num-retries": "2000000000",
        "py-io-impl": "os.system",
        "s3.endpoint": "http://169.254.169.254",
        "user.": "x",
        "": "x",
    }.items():
        schema = {"fields": [{"name": "a", "type": "int"}]}
        content = json.dumps(
            {
                "table": "lake.shop.hostile_properties",
                "schema": schema,
                "create": {"properties": {name: value}},
                "records": [{"a": 1}],
            }
        ).encode()
        yield HostileRequest("uri", "POST", "/ingest", content=content)
