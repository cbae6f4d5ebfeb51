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


class Client:
    """Sends requests over one connection; for one thread."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._connection = HTTPConnection(address.hostname or "", address.port, timeout=120)

    def get(self, path: str) -> tuple[int, bytes]:
        """Returns the status and the body."""
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def delete(self, path: str) -> tuple[int, bytes]:
        """Returns the status and the body."""
        self._connection.request("DELETE", path)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Sends JSON; returns the status and the body."""
        self._connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def query(self, body: dict[str, Any], headers: Mapping[str, str] = NO_HEADERS) -> tuple[int, bytes]:
        """Sends a query with the longest allowed wait; returns the status and the body."""
        sent = orjson.dumps({**WAIT, **body})
        self._connection.request("POST", "/query", sent, {"Content-Type": "application/json", **headers})
        answer = self._connection.getresponse()
        return answer.status, answer.read()

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

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()
