"""Many clients of one slow query, on plain sockets, in a process of their own."""

from __future__ import annotations

import asyncio
import resource
import time
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

import orjson

SETTLE_S = 1.0
UNFINISHED = {"QUEUED", "RUNNING"}


def raise_file_limit() -> int:
    """Raises the limit of open files as far as this user may, and returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def wait_together(url: str, path: str, count: int, parent: Connection) -> None:
    """Sends `waiting` once all have asked, then the state that each got as its answer, and when."""
    raise_file_limit()
    parent.send(asyncio.run(_wait_together(url, path, count, parent)))


async def _wait_together(url: str, path: str, count: int, parent: Connection) -> list[tuple[str, float]]:
    address = urlsplit(url)
    streams = [await asyncio.open_connection(address.hostname, address.port) for _ in range(count)]
    request = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
    answers = asyncio.gather(*(_state(reader, writer, request) for reader, writer in streams))
    await asyncio.sleep(SETTLE_S)
    parent.send("waiting")
    states = await answers
    for _, writer in streams:
        writer.close()
    return states


async def _state(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[str, float]:
    """Returns the final state, asked for again whenever a wait ends before the query; or the error."""
    try:
        while True:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            body = await reader.readexactly(int(length.partition(b":")[2]))
            state = str(orjson.loads(body).get("status", {}).get("state", "none"))
            if state not in UNFINISHED:
                return state, time.monotonic()
    except (OSError, asyncio.IncompleteReadError) as failure:
        return type(failure).__name__, time.monotonic()
