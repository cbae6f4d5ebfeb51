"""One JSON object a line: by Arrow where that is sure to be the same, else line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from service.ingest.reading.fast_rows import FastRows
from service.ingest.reading.json_lines import json_lines
from service.ingest.reading.line_blocks import line_blocks
from service.ingest.reading.plan import ReadPlan
from service.ingest.reading.record_rows import RecordRows
from service.ingest.reading.route_lines import LineRouter
from service.ingest.reading.rows import Position, Rows, TargetRows

_BLOCK_BYTES = 4 * 1024**2
# Each target's part of a block is read by itself, which costs something whatever its size.
_ROUTED_BLOCK_BYTES = 16 * 1024**2


def ndjson_rows(
    stream: BinaryIO, plan: ReadPlan, start: Position, block_bytes: int | None = None
) -> Iterator[Rows]:
    """The records of all lines, block by block; those of one block come target by target."""
    reader = _Reader(plan)
    number = start.number
    size = block_bytes or (_BLOCK_BYTES if plan.route is None else _ROUTED_BLOCK_BYTES)
    for block in line_blocks(stream, size):
        yield from reader.rows(block, number)
        number += block.count(b"\n")


class _Reader:
    def __init__(self, plan: ReadPlan) -> None:
        self._slow = RecordRows(plan)
        ignored = None if plan.route is None else plan.route.field
        self._fast = [FastRows(each.fields, ignored) for each in plan.targets]
        self._router = None if plan.route is None else LineRouter(plan.route)

    def rows(self, block: bytes, start: int) -> Iterator[Rows]:
        """The rows of complete lines, of which the first has the number `start`."""
        if not is_plain(block):
            yield from self._slowly(block.split(b"\n"), range(start, start + block.count(b"\n") + 1))
        elif self._router is None:
            yield from self._of_target(0, block, range(start, start + line_count(block)))
        else:
            yield from self._routed(self._router, block, start)

    def _routed(self, router: LineRouter, block: bytes, start: int) -> Iterator[Rows]:
        groups = router.groups(block, start)
        if groups is None:
            yield from self._slowly(block.split(b"\n"), range(start, start + block.count(b"\n") + 1))
            return
        for group in groups:
            if group.target is None:
                yield from self._slowly(group.lines, group.numbers)
            else:
                yield from self._of_target(group.target, b"\n".join(group.lines), group.numbers)

    def _of_target(self, target: int, lines: bytes, numbers: range | list[int]) -> Iterator[Rows]:
        rows = self._fast[target].read(lines, len(numbers))
        if rows is None:
            yield from self._slowly(lines.split(b"\n"), numbers)
        else:
            yield TargetRows(target, rows)

    def _slowly(self, lines: list[bytes], numbers: range | list[int]) -> Iterator[Rows]:
        return json_lines(zip(numbers, lines, strict=False), self._slow)


def is_plain(block: bytes) -> bool:
    r"""Whether every line begins and ends with a brace, and all of it is UTF-8 without NUL.

    Between a closing and an opening brace that no comma parts, no value of JSON goes on: if there are as many
    objects as lines then, each line is one.

    >>> [is_plain(each) for each in (b'{}\n{}\n', b'{}\r\n{}', b'{"a":\n1}', b'{}\n\n{}', b' {}')]
    [True, True, False, False, False]
    """
    if not block.startswith(b"{") or not block.endswith((b"}", b"}\n", b"}\r\n")) or b"\0" in block:
        return False
    between = line_count(block) - 1
    if block.count(b"}\n{") != between and block.count(b"}\r\n{") != between:
        return False
    return block.isascii() or _is_utf8(block)


def line_count(block: bytes) -> int:
    r"""How many lines there are; the last one may lack its end.

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
