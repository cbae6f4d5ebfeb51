"""Sends a result as its bytes are kept, whole or in part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

from fastapi import Response
from fastapi.responses import StreamingResponse

from api.http.answers.byte_ranges import ByteRange, asked_range
from api.http.answers.cut_off import cut_off_at_failure
from api.http.gateway_access import GatewayAccess
from service.ports.stores.result_files import StoredFile


async def stored_bytes(
    access: GatewayAccess,
    stream: StoredFile,
    headers: Mapping[str, str],
    media_type: str,
    wanted: str | None,
    if_range: str | None,
) -> Response:
    """Returns the bytes that Range (`wanted`) and If-Range ask for. One block at a time is in memory.

    Raises:
        RangeNotSatisfiable: the result has no byte in the range.
        ResultExpired: it is gone.
    """
    byte_count = stream.byte_count
    part = asked_range(wanted, if_range, headers["ETag"], byte_count)
    found = part or ByteRange(0, byte_count)
    blocks = stream.blocks(found.start, found.stop)
    # The first block is read before the answer begins, so that its failure is a problem.
    first = await access.call(next, blocks, b"")
    more = {"Accept-Ranges": "bytes", "Content-Length": str(found.stop - found.start)}
    if part is not None:
        more["Content-Range"] = part.content_range(byte_count)
    return StreamingResponse(
        cut_off_at_failure(_blocks(access, first, blocks)),
        200 if part is None else 206,
        {**headers, **more},
        media_type,
    )


async def _blocks(access: GatewayAccess, first: bytes, others: Iterator[bytes]) -> AsyncIterator[bytes]:
    block = first
    while block:
        yield block
        block = await access.call(next, others, b"")
