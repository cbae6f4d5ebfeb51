"""A client with one kept connection, as thin as possible, so that it adds little time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.client import HTTPConnection
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import orjson

WAIT = {"waitTimeout": "50s"}
SELECT_1: dict[str, Any] = {"sql": "select 1"}
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
IDLE_AT_MOST_S = 3.0
"""The gateway closes a connection that is idle for a little longer."""


class Client:
    """Sends requests over one connection, all with the same headers; for one thread."""

    def __init__(self, url: str, headers: Mapping[str, str] = NO_HEADERS) -> None:
        address = urlsplit(url)
        self._headers = dict(headers)
        self._connection = HTTPConnection(address.hostname or "", address.port, timeout=120)
        self._used_s = time.monotonic()

    def get(self, path: str) -> tuple[int, bytes]:
        """Returns the status and the body."""
        return self._sent("GET", path)

    def delete(self, path: str) -> tuple[int, bytes]:
        """Returns the status and the body."""
        return self._sent("DELETE", path)

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Sends JSON; returns the status and the body."""
        return self._sent("POST", path, body)

    def post_arrow(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Sends a stream of Arrow; returns the status and the body."""
        return self._sent("POST", path, body, {"Content-Type": "application/vnd.apache.arrow.stream"})

    def put(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Sends JSON; returns the status and the body."""
        return self._sent("PUT", path, body)

    def query(self, body: dict[str, Any], headers: Mapping[str, str] = NO_HEADERS) -> tuple[int, bytes]:
        """Sends a query with the longest allowed wait; returns the status and the body."""
        return self._sent("POST", "/query", orjson.dumps({**WAIT, **body}), headers)

    def timed_query_ms(self, body: dict[str, Any]) -> float:
        """Returns how long the answer took, there and back.

        Raises:
            RuntimeError: the query did not succeed.
        """
        started = time.perf_counter()
        status, answer = self.query(body)
        took_ms = (time.perf_counter() - started) * 1000
        if status != 200:
            raise RuntimeError(f"{status}: {answer[:500]!r}")
        return took_ms

    def _sent(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> tuple[int, bytes]:
        if time.monotonic() - self._used_s > IDLE_AT_MOST_S:
            # The next request opens another.
            self._connection.close()
        kind = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request(method, path, body, {**kind, **self._headers, **headers})
        answer = self._connection.getresponse()
        data = answer.read()
        self._used_s = time.monotonic()
        return answer.status, data

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()
