"""Many clients of one slow query, on plain sockets, in a process of their own."""

from __future__ import annotations

import asyncio
import resource
import time
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

import orjson

SETTLE_S = 1.0


def raise_file_limit() -> int:
    """As many open files as this user may have; how many that are."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def wait_together(url: str, path: str, count: int, tell: Connection) -> None:
    """Tells `waiting` once all have asked, then the state that each was answered and when it came."""
    raise_file_limit()
    tell.send(asyncio.run(_wait_together(url, path, count, tell)))


async def _wait_together(url: str, path: str, count: int, tell: Connection) -> list[tuple[str, float]]:
    address = urlsplit(url)
    streams = [await asyncio.open_connection(address.hostname, address.port) for _ in range(count)]
    request = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
    for _, writer in streams:
        writer.write(request)
    answers = asyncio.gather(*(_answer(reader) for reader, _ in streams))
    await asyncio.sleep(SETTLE_S)
    tell.send("waiting")
    states = await answers
    for _, writer in streams:
        writer.close()
    return states


async def _answer(reader: asyncio.StreamReader) -> tuple[str, float]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        body = await reader.readexactly(int(fields["content-length"]))
    except (OSError, asyncio.IncompleteReadError) as failure:
        return type(failure).__name__, time.monotonic()
    return orjson.loads(body).get("status", {}).get("state", "none"), time.monotonic()
