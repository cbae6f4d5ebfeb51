"""The formats of rows, and the protocol of those that are text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from sluice_client.query.query_answer import Column


class Format(StrEnum):
    """The formats of rows."""

    TABLE = "table"
    VERTICAL = "vertical"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    ARROW = "arrow"
    PARQUET = "parquet"
    MARKDOWN = "markdown"


FOR_PEOPLE = frozenset({Format.TABLE, Format.VERTICAL, Format.MARKDOWN})
"""These show a bounded number of rows."""
BINARY = frozenset({Format.ARROW, Format.PARQUET})
"""These are not written to a terminal."""
ONE_RESULT = frozenset({Format.JSON, Format.ARROW, Format.PARQUET})
"""These hold one result a file."""

Row = Sequence[Any]
_NUMBER = re.compile(r"(?:TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """How many rows there are, and how many of them are written."""

    total: int
    shown: int


class TextFormat(Protocol):
    """Writes one result as text, page by page."""

    def begin(self) -> Iterator[str]:
        """Yields the text before the rows."""

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the text of some rows. There may be no page, or many."""

    def end(self, count: Shown) -> Iterator[str]:
        """Yields the text after the rows."""


def is_number(column: Column) -> bool:
    """Whether a column's values are numbers.

    >>> is_number(Column("n", "DECIMAL(9,2)", True)), is_number(Column("n", "INTERVAL DAY", True))
    (True, False)
    """
    return _NUMBER.match(column.type) is not None


def value_text(value: Any) -> str:
    """Returns a value that is not null as one text: that of SQL for booleans, and JSON for nested values.

    >>> value_text(True), value_text([1, None]), value_text("a")
    ('true', '[1, null]', 'a')
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case list() | dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def row_object(names: Sequence[str], row: Row) -> Any:
    """Returns a row as an object, or as an array of names and values if two names are equal.

    >>> row_object(["a", "b"], [1, 2]), row_object(["a", "a"], [1, 2])[0]
    ({'a': 1, 'b': 2}, {'name': 'a', 'value': 1})
    """
    if len(set(names)) == len(names):
        return dict(zip(names, row, strict=True))
    return [{"name": name, "value": value} for name, value in zip(names, row, strict=True)]


def footer(count: Shown, notes: Iterable[str] = ()) -> Iterator[str]:
    """Yields a line about hidden rows and columns, if there are any."""
    parts = list(notes)
    if count.shown < count.total:
        parts.insert(0, f"{count.shown:,} of {count.total:,} rows are shown: --max-rows 0 shows all")
    if parts:
        yield f"({'; '.join(parts)})\n"
