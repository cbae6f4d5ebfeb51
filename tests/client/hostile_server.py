"""A server that answers with bytes that a test wrote, whatever it is asked."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.client.gateways import HOST

Answer = bytes | Iterable[bytes]
"""Bytes to send before the connection is closed; empty: it is closed at once."""


@dataclass
class HostileServer:
    """Its address, and the requests that it received."""

    url: str
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def hostile(*answers: Answer, last: Callable[[], Answer] | None = None) -> Iterator[HostileServer]:
    """Gives each request the next answer, and all later ones `last` or the last answer."""
    with socket.create_server((HOST, 0)) as listening:
        listening.settimeout(0.05)
        server = HostileServer(f"http://{HOST}:{listening.getsockname()[1]}")
        is_stopped = threading.Event()
        arguments = (listening, server, list(answers), last, is_stopped)
        thread = threading.Thread(target=_serve, args=arguments)
        thread.start()
        try:
            yield server
        finally:
            is_stopped.set()
            thread.join()


def _serve(
    listening: socket.socket,
    server: HostileServer,
    answers: list[Answer],
    last: Callable[[], Answer] | None,
    is_stopped: threading.Event,
) -> None:
    while not is_stopped.is_set():
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            server.requests.append(_request(connection))
            at = len(server.requests) - 1
            answer = answers[min(at, len(answers) - 1)] if at < len(answers) or last is None else last()
            for piece in [answer] if isinstance(answer, bytes) else answer:
                if is_stopped.is_set():
                    break
                connection.sendall(piece)


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    if b"chunked" in head.lower():
        while not body.endswith(b"0\r\n\r\n"):
            body += _some(connection)
    else:
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if b"content-length" in line]
        while len(body) < int(lengths[0] if lengths else 0):
            body += _some(connection)
    return head + b"\r\n\r\n" + body


def _some(connection: socket.socket) -> bytes:
    piece = connection.recv(65_536)
    if not piece:
        raise ConnectionResetError
    return piece


def answer(body: bytes, status: int = 200, content_type: str = "application/json", **headers: str) -> bytes:
    """Returns a whole answer."""
    lines = [
        f"HTTP/1.1 {status} Some Reason",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
    ]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n").encode() + body


def problem(code: str, status: int, **more: Any) -> bytes:
    """Returns an error as a gateway sends it; `retry_after` becomes a header."""
    headers = {"Retry_After": str(more.pop("retry_after"))} if "retry_after" in more else {}
    body = {"code": code, "detail": f"It is {code}.", "status": status, "errors": [], **more}
    return answer(json.dumps(body).encode(), status, "application/problem+json", **headers)


def query_answer(**more: Any) -> dict[str, Any]:
    """Returns the answer about a query that succeeded with one chunk of one row."""
    manifest = {
        "format": "ARROW_STREAM",
        "columns": [{"name": "n", "type": "INT", "nullable": True}],
        "totalRowCount": 1,
        "totalByteCount": 4,
        "chunkCount": 1,
        "truncated": False,
    }
    status = {"state": "SUCCEEDED", "error": None, "queuedMs": 0, "elapsedMs": 1}
    ids = {"queryId": "00000000-0000-0000-0000-000000000001", "sentBefore": False}
    return {
        **ids,
        "status": status,
        "manifest": manifest,
        "result": None,
        "pruning": None,
        "links": {},
    } | more


def succeeded(**more: Any) -> bytes:
    """Returns it as a whole answer."""
    return answer(json.dumps(query_answer(**more)).encode())


def ingest_answer(state: str) -> dict[str, Any]:
    """Returns the answer about an ingest in this state."""
    error = {"code": "TABLE_CHANGED", "detail": "a column is gone"} if state == "FAILED" else None
    commit: dict[str, Any] = {
        "table": "lake.logs.events",
        "branch": "main",
        "snapshotId": 7 if state == "COMMITTED" else None,
        "addedRecords": 1,
        "addedDataFiles": 1,
        "addedBytes": 10,
        "writeTargets": [],
        "error": error,
        "postponed": None,
    }
    ids = {"ingestId": "00000000-0000-0000-0000-000000000002", "state": state, "commits": [commit]}
    return {**ids, "rejected": {"count": 0, "samples": []}, "evolutions": [], "note": None, "links": {}}
