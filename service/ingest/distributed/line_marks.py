"""Finds the places where a body of lines can be split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from service.model.ingest.body_splits import BodySplit


@dataclass(frozen=True, slots=True)
class LineMark:
    """A place where a record begins, and its line number."""

    offset: int
    number: int


@dataclass(frozen=True, slots=True)
class LineMarks:
    """Places to split a text at, the first at its beginning; every part needs its `header`."""

    marks: Sequence[LineMark]
    byte_count: int
    header: bytes = b""

    def splits(self, count: int) -> list[BodySplit]:
        r"""Returns all lines in at most `count` parts of about equal size; none is empty.

        >>> from io import BytesIO
        >>> [(split.start, split.end) for split in line_marks(BytesIO(b"a\nb\ncc\nd"), 3).splits(2)]
        [(0, 4), (4, 8)]
        """
        cuts: dict[int, LineMark] = {}
        for mark in self.marks:
            if mark.offset < self.byte_count:
                cuts.setdefault(mark.offset * count // self.byte_count, mark)
        chosen = list(cuts.values())
        ends = [*(mark.offset for mark in chosen[1:]), self.byte_count]
        return [self._split(mark, end) for mark, end in zip(chosen, ends, strict=True)]

    def _split(self, mark: LineMark, end: int) -> BodySplit:
        if mark.offset == 0:
            return BodySplit(0, end)
        return BodySplit(mark.offset, end, mark.number - self.header.count(b"\n"), self.header)


def line_marks(stream: BinaryIO, block_bytes: int) -> LineMarks:
    r"""Returns at most one place in every block; reads the whole stream, a block at a time.

    >>> from io import BytesIO
    >>> [(mark.offset, mark.number) for mark in line_marks(BytesIO(b"a\nb\ncc\nd"), 3).marks]
    [(0, 1), (2, 2), (4, 3), (7, 4)]
    """
    marks = [LineMark(0, 1)]
    offset, number = 0, 1
    while block := stream.read(block_bytes):
        found = block.rfind(b"\n") + 1
        if found:
            number += block.count(b"\n")
            marks.append(LineMark(offset + found, number))
        offset += len(block)
    return LineMarks(marks, offset)
