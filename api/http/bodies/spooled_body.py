"""Writes the body of a request into a spool."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import ClientDisconnect, Request

from api.http.waiting import ClientGone
from service.ports.tables.data_files import Spool

_PART_BYTES = 1024**2


class InThread(Protocol):
    """Runs a blocking call."""

    def __call__(self, function: Callable[[bytearray], None], part: bytearray, /) -> Awaitable[None]:
        """Returns when the call is done."""


@dataclass(frozen=True, slots=True)
class SpooledBody:
    """A body as it was sent, and the SHA-256 (hex) of what identifies it."""

    spool: Spool
    digest: str


@asynccontextmanager
async def spooled_body(
    request: Request, spool: Spool, prefix: bytes | None, in_thread: InThread
) -> AsyncIterator[SpooledBody]:
    """Spools the whole body, with at most one part of it in memory. It is deleted when the context ends.

    `prefix` goes into the digest before the body. Without a prefix, there is no digest.

    Raises:
        StorageDown: there is no space for it.
        ClientGone: the client hung up before the body's end.
    """
    digest = None if prefix is None else hashlib.sha256(prefix)

    def append(part: bytearray) -> None:
        if digest is not None:
            digest.update(part)
        spool.write(part)

    try:
        part = bytearray()
        async for chunk in request.stream():
            part += chunk
            if len(part) >= _PART_BYTES:
                await in_thread(append, part)
                part = bytearray()
        await in_thread(append, part)
        yield SpooledBody(spool, "" if digest is None else digest.hexdigest())
    except ClientDisconnect:
        raise ClientGone from None
    finally:
        spool.close()
