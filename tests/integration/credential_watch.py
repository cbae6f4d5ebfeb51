"""Looks for callers' credentials wherever a gateway writes: in its answers, its logs and its other files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx

# An API key, or a token that is signed.
CREDENTIAL = re.compile(rb"sluice_[0-9a-f]{16}_[\w-]{43}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")
LONGEST_BYTES = 8192
_READABLE = ("json", "text/", "xml", "html")


class WatchedTransport(httpx.BaseTransport):
    """Sends requests, and fails the test whose answer shows a credential. Only a new key may be shown."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        is_new_key = request.method == "POST" and request.url.path == "/keys"
        assert not CREDENTIAL.search(str(answer.headers).encode()), f"headers of {request.url.path}"
        if not is_new_key and any(kind in answer.headers.get("content-type", "") for kind in _READABLE):
            assert isinstance(answer.stream, httpx.SyncByteStream)
            answer.stream = _WatchedStream(answer.stream, request.url.path)
        return answer

    def close(self) -> None:
        self._inner.close()


class _WatchedStream(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, path: str) -> None:
        self._inner = inner
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        end = b""
        for part in self._inner:
            end = end[-LONGEST_BYTES:] + part
            assert not CREDENTIAL.search(end), f"the answer of {self._path} shows a credential"
            yield part

    def close(self) -> None:
        self._inner.close()


def shown_in(folder: Path, sent: frozenset[str]) -> list[str]:
    """Returns the files of a gateway that show a credential, or a token that was sent."""
    wanted = [CREDENTIAL, *(re.compile(re.escape(text.encode())) for text in sent)]
    found = []
    for path in _written(folder):
        content = path.read_bytes()
        found += [f"{path.name} at {match.start()}" for one in wanted for match in one.finditer(content)]
    return found


def _written(folder: Path) -> Iterator[Path]:
    """The logs, and what else lies beside them; tables and databases are too large to read each time."""
    for path in (*folder.glob("*.jsonl"), *folder.glob("logs/**/*"), *folder.glob("results/**/*")):
        if path.is_file():
            yield path
