"""Reads one JSON object a line: with Arrow where the result is certainly the same, else line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from service.ingest.decoding.json.changing_lines import ChangingLines
from service.ingest.decoding.json.fast_rows import FastRows
from service.ingest.decoding.json.json_lines import json_lines
from service.ingest.decoding.json.route_lines import LineRouter
from service.ingest.decoding.streams.line_blocks import line_blocks
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import Position, Rows, TargetRows
from service.ingest.decoding.values.invalid_partition_values import invalid_partition_values
from service.ingest.decoding.values.marked_rows import marked, may_lack_keys
from service.ingest.decoding.values.record_rows import RecordRows

_BLOCK_BYTES = 4 * 1024**2
# Each target's part of a block is read by itself, which has a fixed cost.
_ROUTED_BLOCK_BYTES = 16 * 1024**2


def ndjson_rows(
    stream: BinaryIO, plan: ReadPlan, start: Position, bounds: ReadBounds, block_bytes: int | None = None
) -> Iterator[Rows]:
    """Yields the records of all lines, block by block; those of one block come target by target.

    Raises:
        IngestInvalid: a line is too long.
    """
    reader = _Reader(plan)
    number = start.number
    size = block_bytes or (_BLOCK_BYTES if plan.route is None else _ROUTED_BLOCK_BYTES)
    for block in line_blocks(stream, bounds.line_bytes, size):
        count = line_count(block)
        # A few bytes may hold very many empty lines.
        if block.strip(b" \t\r\n"):
            yield from reader.rows(block, range(number, number + count))
        number += count


class _Reader:
    def __init__(self, plan: ReadPlan) -> None:
        self._slow = RecordRows(plan)
        ignored = None if plan.route is None else plan.route.field
        self._fast = [_fast_reader(target, ignored) for target in plan.targets]
        self._partitions = [target.partition for target in plan.targets]
        self._router = None if plan.route is None else LineRouter(plan.route)

    def rows(self, block: bytes, numbers: range) -> Iterator[Rows]:
        """Yields the rows of complete lines with these numbers."""
        if not is_plain(block, len(numbers)):
            yield from self._slowly(block.split(b"\n"), numbers)
        elif self._router is None:
            yield from self._of_target(0, block, numbers)
        else:
            yield from self._routed(self._router, block, numbers)

    def _routed(self, router: LineRouter, block: bytes, numbers: range) -> Iterator[Rows]:
        groups = router.groups(block, numbers.start)
        if groups is None:
            yield from self._slowly(block.split(b"\n"), numbers)
            return
        for group in groups:
            if group.target is None:
                yield from self._slowly(group.lines, group.numbers)
            else:
                yield from self._of_target(group.target, b"\n".join(group.lines), group.numbers)

    def _of_target(self, target: int, lines: bytes, numbers: range | list[int]) -> Iterator[Rows]:
        reader = self._fast[target]
        rows = None if reader is None else reader.read(lines, len(numbers))
        if rows is None or invalid_partition_values(rows, self._partitions[target]):
            yield from self._slowly(lines.split(b"\n"), numbers)
        else:
            yield TargetRows(target, rows)

    def _slowly(self, lines: list[bytes], numbers: range | list[int]) -> Iterator[Rows]:
        return json_lines(zip(numbers, lines, strict=False), self._slow)


class _Deletes:
    """A reader of lines that all delete."""

    def __init__(self, target: ReadTarget, ignored: str | None) -> None:
        self._target = target
        self._keys = FastRows(target.fields, ignored)

    def read(self, lines: bytes, count: int) -> pa.RecordBatch | None:
        rows = self._keys.read(lines, count)
        if rows is None or may_lack_keys(rows):
            return None
        return marked(rows, self._target.fields, is_delete=True)


def _fast_reader(target: ReadTarget, ignored: str | None) -> FastRows | _Deletes | ChangingLines | None:
    if target.rest is not None:
        return None
    if target.deletes is None:
        return FastRows(target.fields, ignored)
    if target.deletes.is_always:
        return _Deletes(target, ignored)
    when = target.deletes.when
    # With a route, two fields would have to be ignored.
    return None if when is None or ignored is not None else ChangingLines(target, when)


def is_plain(block: bytes, lines: int) -> bool:
    r"""Returns whether each of the lines begins and ends with a brace, and all is UTF-8 without NUL.

    No JSON value continues across a closing and an opening brace without a comma between them. So if there
    are as many objects as lines, each line is one object.

    >>> [is_plain(block, 2) for block in (b'{}\n{}\n', b'{}\r\n{}', b'{"a":\n1}', b'{}\n', b' {}\n{}')]
    [True, True, False, False, False]
    """
    if not block.startswith(b"{") or not block.endswith((b"}", b"}\n", b"}\r\n")) or b"\0" in block:
        return False
    # Most lines begin alike, and longer patterns are found several times as fast.
    partings = (b"}\n" + block[:16], b"}\n{", b"}\r\n{")
    if not any(block.count(parting) == lines - 1 for parting in partings):
        return False
    return block.isascii() or _is_utf8(block)


def line_count(block: bytes) -> int:
    r"""Returns the number of lines; the last one may lack its end.

    >>> line_count(b"a\nb"), line_count(b"a\nb\n")
    (2, 2)
    """
    return block.count(b"\n") + (not block.endswith(b"\n"))


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True
