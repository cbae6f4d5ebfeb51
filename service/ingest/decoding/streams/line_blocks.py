"""A stream in blocks of complete lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.errors import IngestInvalid

BLOCK_BYTES = 4 * 1024**2
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_blocks(stream: BinaryIO, max_line_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    r"""Blocks of about so many bytes, each with whole lines; a byte order mark at the start is left out.

    Raises:
        IngestInvalid: a line is longer than a line may be, without its end.

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
            # Views, so that what is large is copied once.
            yield b"".join((*rest, memoryview(block)[:end]))
            rest, rest_bytes = [], 0
        rest.append(block[end:])
        rest_bytes += len(block) - end
    if rest_bytes:
        yield b"".join(rest)


def too_long(what: str, max_line_bytes: int) -> IngestInvalid:
    """The refusal of a line, or a record, that is longer than a line may be."""
    return IngestInvalid(
        f"{what} is longer than {max_line_bytes} bytes, the most that SLUICE_INGEST_MAX_LINE_BYTES allows."
    )


def _checked_end(block: bytes, begun_bytes: int, max_line_bytes: int) -> int:
    """Where the last whole line of a block ends, of whose first line so much has come before."""
    start, left = 0, max_line_bytes - begun_bytes
    # From where a line begins to the farthest place where it may end, the last end of any: few looks a block.
    while len(block) - start > left:
        found = block.rfind(b"\n", start, start + left + 1)
        if found < 0:
            raise too_long("A line", max_line_bytes)
        start, left = found + 1, max_line_bytes
    return max(block.rfind(b"\n", start) + 1, start)
