"""Rows of the command's own lists as CSV. A query's rows are the gateway's CSV, which looks the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sluice_client.cli.formats.row_format import Row, Shown, value_text
from sluice_client.query.query_answer import Column

_NEEDS_QUOTES = re.compile(r'[",\r\n]|^$|^\s|\s$')


class CsvFormat:
    """Writes RFC 4180. NULL is an empty field; an empty text is a quoted one."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def begin(self) -> Iterator[str]:
        """Yields the names of the columns."""
        yield csv_line([column.name for column in self._columns])

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the lines."""
        yield from map(csv_line, rows)

    def end(self, count: Shown) -> Iterator[str]:  # noqa: ARG002 - all rows are written
        """Yields nothing."""
        yield from ()


def csv_line(values: Row) -> str:
    r"""Returns one line.

    >>> csv_line(["a", None, "", 'b,"c', 1])
    'a,,"","b,""c",1\r\n'
    """
    return ",".join(map(_field, values)) + "\r\n"


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = value_text(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
