"""One JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.ingest.reading.json_lines import json_lines
from service.ingest.reading.line_blocks import line_blocks
from service.ingest.reading.plan import ReadPlan
from service.ingest.reading.record_rows import RecordRows
from service.ingest.reading.rows import Position, Rows


def ndjson_rows(stream: BinaryIO, plan: ReadPlan, start: Position) -> Iterator[Rows]:
    """The records of all lines, block by block; those of one block come target by target."""
    rows = RecordRows(plan)
    number = start.number
    for block in line_blocks(stream):
        yield from json_lines(block, rows, number)
        number += block.count(b"\n")
