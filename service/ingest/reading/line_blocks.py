"""A stream in blocks of complete lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.errors import IngestInvalid

BLOCK_BYTES = 4 * 1024**2
MAX_LINE_BYTES = 64 * 1024**2
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_blocks(
    stream: BinaryIO, block_bytes: int = BLOCK_BYTES, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[bytes]:
    r"""Blocks of about so many bytes, each with whole lines; a byte order mark at the start is left out.

    Raises:
        IngestInvalid: a line is longer than a line may be.

    >>> from io import BytesIO
    >>> list(line_blocks(BytesIO(b"aa\nbb\ncc"), 4))
    [b'aa\n', b'bb\n', b'cc']
    """
    rest: list[bytes] = []
    rest_bytes = 0
    is_first = True
    while block := stream.read(block_bytes):
        if is_first:
            block = block.removeprefix(BYTE_ORDER_MARK)
            is_first = False
        end = block.rfind(b"\n") + 1
        if end:
            # Views, so that what is large is copied once.
            yield b"".join((*rest, memoryview(block)[:end]))
            rest, rest_bytes = [], 0
        rest.append(block[end:])
        rest_bytes += len(block) - end
        if rest_bytes > max_line_bytes:
            raise IngestInvalid(f"A line is longer than {max_line_bytes} bytes.")
    if rest_bytes:
        yield b"".join(rest)
