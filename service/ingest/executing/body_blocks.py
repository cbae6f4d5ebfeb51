"""A large body in blocks of whole lines, which executors can read each by itself."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.executing.split_task import BodyBlock
from service.ingest.reading.decompressed import decompressed
from service.ingest.reading.line_blocks import line_blocks
from service.model.ingest import StreamedRecords


def body_blocks(body: StreamedRecords, block_bytes: int, max_bytes: int) -> Iterator[BodyBlock]:
    """The blocks, in their order, with the numbers of their first lines.

    Raises, while it is iterated:
        IngestInvalid: the body is not compressed so, or has more than `max_bytes` in it.
    """
    number = 1
    with body.open() as raw:
        for block in line_blocks(decompressed(raw, body.compression, max_bytes), block_bytes):
            yield BodyBlock(block, number)
            number += block.count(b"\n")
