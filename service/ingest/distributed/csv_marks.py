"""Finds the places where a body of CSV can be split: line ends outside of quotes."""

from __future__ import annotations

from typing import BinaryIO

from service.ingest.decoding.csv.csv_records import is_open
from service.ingest.decoding.streams.line_blocks import BYTE_ORDER_MARK, too_long
from service.ingest.distributed.line_marks import LineMark, LineMarks


def csv_marks(stream: BinaryIO, block_bytes: int, max_line_bytes: int) -> LineMarks:
    r"""Returns at most one place in every block, and the header; reads the whole stream.

    Raises:
        IngestInvalid: a line, or the header, is too long to be scanned.

    >>> from io import BytesIO
    >>> found = csv_marks(BytesIO(b'a,b\n1,"x\ny"\n2,z\n'), 9, 100)
    >>> [(mark.offset, mark.number) for mark in found.marks], found.header
    ([(0, 1), (4, 2), (16, 5)], b'a,b\n')
    """
    scan = _Scan(max_line_bytes)
    while block := stream.read(block_bytes):
        scan.take(block)
    return LineMarks(scan.marks, scan.offset + len(scan.rest), bytes(scan.header))


class _Scan:
    """A scan of the stream; `rest` is the current incomplete line, which begins at `offset`."""

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self.marks = [LineMark(0, 1)]
        self.header = bytearray()
        self.offset = 0
        self.rest = b""
        self._number = 1
        self._is_inside = False
        self._has_header = False

    def take(self, block: bytes) -> None:
        text = self.rest + block
        end = text.rfind(b"\n") + 1
        self.rest = text[end:]
        self._check("A line", self.rest if self.offset or end else self.rest.removeprefix(BYTE_ORDER_MARK))
        lines = text[:end]
        if not lines:
            return
        if self._has_header and not self._is_inside and b'"' not in lines:
            self._number += lines.count(b"\n")
            self.offset += end
            self.marks.append(LineMark(self.offset, self._number))
        else:
            self._line_by_line(lines)

    def _line_by_line(self, lines: bytes) -> None:
        last: LineMark | None = None
        for line in lines.split(b"\n")[:-1]:
            seen = line.removeprefix(BYTE_ORDER_MARK) if self.offset == 0 else line
            self._is_inside = is_open(seen, self._is_inside)
            self.offset += len(line) + 1
            self._number += 1
            if not self._has_header:
                self._add_to_header(line)
            if not self._is_inside:
                self._has_header = True
                last = LineMark(self.offset, self._number)
        if last is not None:
            self.marks.append(last)

    def _add_to_header(self, line: bytes) -> None:
        self.header += line + b"\n"
        self._check("The record that begins on line 1", self.header[:-1].removeprefix(BYTE_ORDER_MARK))

    def _check(self, what: str, text: bytes | bytearray) -> None:
        # Complete records are checked when they are read.
        if len(text) > self._max_line_bytes:
            raise too_long(what, self._max_line_bytes)
