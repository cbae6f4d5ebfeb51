"""Connections that stall, or that send too much before or within a request."""

from __future__ import annotations

from tests.drill.attacks import PART_BYTES, opened, sockets
from tests.drill.hostile import Attack, Hostile

MIB = 1024**2
HEAD = b"POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
LINES = b"X-Line: 1234567890\r\n" * (PART_BYTES // 20)
PARTS_OF_A_MIB = MIB // PART_BYTES
UNFINISHED = b'{"sql": "' + b"1" * 3_900_000


def _body(path: str, *headers: str) -> Attack:
    def opening(hostile: Hostile) -> bytes:
        return hostile.head(f"POST {path}", "Content-Type: application/json", *headers)

    return opened(100, opening, [UNFINISHED])


CONNECTIONS: dict[str, Attack] = {
    "2,000 connections that say nothing": sockets(2000, b"", at_a_time=8),
    "2,000 half-sent heads": sockets(2000, b"GET /healthz HTTP/1.1\r\nX-Half: ", at_a_time=8),
    "60 MiB of header lines": sockets(1, b"GET /healthz HTTP/1.1\r\n", [LINES] * 60 * PARTS_OF_A_MIB),
    "60 MiB of header lines, 32 times": sockets(
        32, b"GET /healthz HTTP/1.1\r\n", [LINES] * 60 * PARTS_OF_A_MIB, at_a_time=8
    ),
    "one header of 200 MiB": sockets(
        1, b"GET /healthz HTTP/1.1\r\nX-Long: ", [b"x" * PART_BYTES] * 200 * PARTS_OF_A_MIB
    ),
    "one URL of 200 MiB": sockets(1, b"GET /", [b"x" * PART_BYTES] * 200 * PARTS_OF_A_MIB),
    "100 unfinished bodies of 4 MB": _body("/query", "Content-Length: 4000000"),
    "100 unfinished bodies, in chunks": opened(
        100,
        lambda hostile: hostile.head(
            "POST /query", "Content-Type: application/json", "Transfer-Encoding: chunked"
        ),
        [b"3b9ac9\r\n" + UNFINISHED],
    ),
    "100 unfinished bodies of a stranger": sockets(
        100, HEAD + b"Content-Length: 4000000\r\n\r\n", [UNFINISHED], at_a_time=8
    ),
    "10,000 requests in one connection": opened(
        8, lambda hostile: hostile.head("GET /tables") * 10_000, at_a_time=8
    ),
    "chunks with 60 MiB around them": opened(
        8,
        lambda hostile: (
            hostile.head("POST /query", "Content-Type: application/json", "Transfer-Encoding: chunked")
            + b"1;x="
        ),
        [b"y" * PART_BYTES] * 60 * PARTS_OF_A_MIB,
    ),
}
