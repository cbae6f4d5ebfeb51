"""Reads lines of JSON one by one: slow, and the reference for every faster way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from service.ingest.decoding.streams.rows import BadRow, Position, Rows
from service.ingest.decoding.values.exact_json import NumberTooLong, exact_json
from service.ingest.decoding.values.record_rows import RecordRows


def json_lines(lines: Iterable[tuple[int, bytes]], rows: RecordRows) -> Iterator[Rows]:
    """Yields the rows of these lines, each with its number; empty lines are skipped."""
    for number, line in lines:
        payload = line.strip(b" \t\r")
        if not payload:
            continue
        try:
            record = parsed(payload)
        except NoJson as error:
            yield BadRow(Position(number, error.column), str(error), payload)
            continue
        bad = rows.take(record, Position(number), payload)
        if bad is not None:
            yield bad
    yield from rows.batches()


class NoJson(Exception):
    """A line that is not JSON; `column` is where parsing failed, if that is known."""

    def __init__(self, reason: str, column: int | None = None) -> None:
        super().__init__(reason)
        self.column = column


def parsed(line: bytes) -> object:
    """Returns the value of the line.

    Raises:
        NoJson: the line is not JSON.
    """
    try:
        return exact_json(line.decode())
    except UnicodeDecodeError as error:
        raise NoJson(f"byte {error.start + 1} is not UTF-8", error.start + 1) from None
    except json.JSONDecodeError as error:
        raise NoJson(f"not JSON: {error.msg}", error.colno) from None
    except RecursionError:
        raise NoJson("nested too deeply") from None
    except NumberTooLong as error:
        raise NoJson(str(error)) from None
    except ValueError as error:
        # NaN, or a repeated name.
        raise NoJson(f"not JSON: {error}") from None
