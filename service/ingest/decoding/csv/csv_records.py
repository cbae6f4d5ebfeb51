"""Splits CSV into records as in RFC 4180: a header, quoted values, and doubled quotes inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.streams.line_blocks import line_blocks, too_long

_FIELD = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|\Z)')


class NoCsv(ValueError):
    """A record that does not follow RFC 4180."""


@dataclass(frozen=True, slots=True)
class CsvRecord:
    """One record as it was sent, without its line end, and the number of the line on which it begins."""

    number: int
    raw: bytes

    def values(self) -> list[str | None]:
        """Returns its values; an empty value without quotes is None.

        Raises:
            NoCsv: it is not a valid record.

        >>> CsvRecord(1, b'a,,"","x ""y"", z"').values()
        ['a', None, '', 'x "y", z']
        """
        try:
            text = self.raw.decode()
        except UnicodeDecodeError as error:
            raise NoCsv(f"byte {error.start + 1} is not UTF-8") from None
        if '"' not in text:
            return [value or None for value in text.split(",")]
        return list(_quoted_values(text))


def csv_records(stream: BinaryIO, max_line_bytes: int, lines_before: int = 0) -> Iterator[CsvRecord]:
    """Yields the records, the header first; only a value that begins with a quote can span several lines.

    `lines_before` is the number of lines before the stream, and is added to line numbers in errors.

    Raises:
        IngestInvalid: a record is longer than a line may be, or the last one ends within quotes.
    """
    begun: list[bytes] = []
    byte_count = first = opened = 0
    is_inside = False
    for number, line in enumerate(_lines(stream, max_line_bytes), 1):
        first = first or number
        byte_count += len(line) + bool(begun)
        begun.append(line)
        if byte_count > max_line_bytes:
            raise too_long(f"The record that begins on line {first + lines_before}", max_line_bytes)
        if not is_inside or _end_of_quoted(line, 0) >= 0:
            opened = number
        is_inside = is_open(line, is_inside)
        if not is_inside:
            yield CsvRecord(first, b"\n".join(begun).removesuffix(b"\r"))
            begun, byte_count, first = [], 0, 0
    if begun:
        # It is unknown which of these lines were records of their own.
        raise IngestInvalid(
            f"The quote that opens on line {opened + lines_before} is never closed: the text breaks off, or a"
            " quote in a value is not doubled."
        )


def is_open(line: bytes, is_inside: bool = False) -> bool:
    r"""Returns whether a quote is open at the end of a line; `is_inside`: one was open at its beginning.

    >>> [is_open(line) for line in (b'a,"b', b'a,"b"', b'a,"b""', b'5" wide,b', b'"a"b,"c')]
    [True, False, True, False, True]
    >>> is_open(b'b",c', True), is_open(b'b""', True)
    (False, True)
    """
    if b'"' not in line:
        return is_inside
    position = 0
    if is_inside:
        position = _end_of_quoted(line, 0)
    while position >= 0:
        if line.startswith(b'"', position):
            position = _end_of_quoted(line, position + 1)
            if position < 0:
                return True
        comma = line.find(b",", position)
        if comma < 0:
            return False
        position = comma + 1
    return True


def _end_of_quoted(raw: bytes, position: int) -> int:
    """Returns the position after the closing quote; -1 if there is none."""
    while True:
        quote = raw.find(b'"', position)
        if quote < 0:
            return -1
        if not raw.startswith(b'"', quote + 1):
            return quote + 1
        position = quote + 2


def _quoted_values(text: str) -> Iterator[str | None]:
    position = 0
    while True:
        found = _FIELD.match(text, position)
        if found is None:
            place = f"behind character {position + 1}"
            raise NoCsv(
                f"a value {place} has a quote in it, or goes on behind one: put it in quotes, doubled"
            )
        quoted, plain, end = found.groups()
        yield quoted.replace('""', '"') if quoted is not None else plain or None
        position = found.end()
        if not end:
            return


def _lines(stream: BinaryIO, max_line_bytes: int) -> Iterator[bytes]:
    for block in line_blocks(stream, max_line_bytes):
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield from lines
