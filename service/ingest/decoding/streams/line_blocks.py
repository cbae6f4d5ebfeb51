"""Reads a stream in blocks of complete lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.errors.ingest_errors import IngestInvalid

BLOCK_BYTES = 4 * 1024**2
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_blocks(stream: BinaryIO, max_line_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    r"""Yields blocks of about `block_bytes`, each of whole lines, without a byte order mark at the start.

    Raises:
        IngestInvalid: a line is longer than `max_line_bytes`, without its end.

    >>> from io import BytesIO
    >>> list(line_blocks(BytesIO(b"aa\nbb\ncc"), 2, 4))
    [b'aa\n', b'bb\n', b'cc']
    """
    rest: list[bytes] = []
    rest_bytes = 0
    is_first = True
    while block := stream.read(block_bytes):
        if is_first:
            block = block.removeprefix(BYTE_ORDER_MARK)
            is_first = False
        end = _checked_end(block, rest_bytes, max_line_bytes)
        if end:
            # A view, so that large blocks are copied only once.
            yield b"".join((*rest, memoryview(block)[:end]))
            rest, rest_bytes = [], 0
        rest.append(block[end:])
        rest_bytes += len(block) - end
    if rest_bytes:
        yield b"".join(rest)


def too_long(what: str, max_line_bytes: int) -> IngestInvalid:
    """Returns the error for a line, or a record, that is too long."""
    return IngestInvalid(
        f"{what} is longer than {max_line_bytes} bytes, the most that SLUICE_INGEST_MAX_LINE_BYTES allows."
    )


def _checked_end(block: bytes, begun_bytes: int, max_line_bytes: int) -> int:
    """Returns the end of a block's last whole line; `begun_bytes` of its first line came before."""
    start, left = 0, max_line_bytes - begun_bytes
    # Searches backward from the farthest place where a line may end, which takes few searches per block.
    while len(block) - start > left:
        found = block.rfind(b"\n", start, start + left + 1)
        if found < 0:
            raise too_long("A line", max_line_bytes)
        start, left = found + 1, max_line_bytes
    return max(block.rfind(b"\n", start) + 1, start)
