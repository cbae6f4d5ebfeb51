"""The HTTP protocol of Trino: a statement is sent, then links are followed until there is no next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from bench.client import Client
from bench.trino_server import CATALOG, USER

ANSWER_WITHIN_S = 300.0
POLL_S = 0.5
# A server that has just come up refuses statements until it has found itself as a node.
NO_NODES = "No nodes available to run query"
STATEMENT = "/v1/statement"


@dataclass(frozen=True, slots=True)
class TrinoAnswer:
    """The rows of a statement, and how many rows its scans read."""

    rows: list[list[Any]]
    read_rows: int


class TrinoClient:
    """Sends statements over one kept connection, as the bench's client of a gateway does; for one thread."""

    def __init__(self, url: str, schema: str) -> None:
        names = {"User": USER, "Catalog": CATALOG, "Schema": schema, "Time-Zone": "UTC"}
        self._client = Client(url, {f"X-Trino-{name}": value for name, value in names.items()})

    def ask(self, sql: str, within_s: float = ANSWER_WITHIN_S) -> TrinoAnswer:
        """Sends a statement, and reads its answer to the end.

        Raises:
            RuntimeError: it did not succeed, or not in time.
        """
        deadline = time.monotonic() + within_s

        def next_page(link: str) -> bytes:
            if time.monotonic() > deadline:
                self._client.delete(path_of(link))
                raise RuntimeError(f"Trino had no answer within {within_s:g} s: {sql}")
            return _checked(self._client.get(path_of(link)))

        while True:
            try:
                found = list(pages(_checked(self._client.post(STATEMENT, sql.encode())), next_page))
                break
            except RuntimeError as failure:
                if str(failure) != NO_NODES or time.monotonic() > deadline:
                    raise
                time.sleep(POLL_S)
        rows = [row for page in found for row in page.get("data") or ()]
        return TrinoAnswer(rows, found[-1]["stats"]["processedRows"])


def pages(first: bytes, next_page: Callable[[str], bytes]) -> Iterator[dict[str, Any]]:
    """Yields the answer to a statement, then those behind the links.

    Raises:
        RuntimeError: the statement failed.

    >>> answers = {"/2": b'{"data": [[1]], "nextUri": "/3"}', "/3": b'{"data": [[2], [3]]}'}
    >>> [page.get("data") for page in pages(b'{"nextUri": "/2"}', answers.__getitem__)]
    [None, [[1]], [[2], [3]]]
    >>> list(pages(b'{"error": {"message": "line 1:8: no such column"}}', answers.__getitem__))
    Traceback (most recent call last):
    RuntimeError: line 1:8: no such column
    """
    link: str | None = ""
    answer = orjson.loads(first)
    while link is not None:
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        yield answer
        link = answer.get("nextUri")
        if link is not None:
            answer = orjson.loads(next_page(link))


def path_of(link: str) -> str:
    """Returns the path of a link of Trino.

    >>> path_of("http://127.0.0.1:8080/v1/statement/queued/20260101_1/y/1?maxWait=1s")
    '/v1/statement/queued/20260101_1/y/1?maxWait=1s'
    """
    address = urlsplit(link)
    return f"{address.path}?{address.query}" if address.query else address.path


def _checked(answered: tuple[int, bytes]) -> bytes:
    status, answer = answered
    if status != 200:
        raise RuntimeError(f"{status}: {answer[:500]!r}")
    return answer
