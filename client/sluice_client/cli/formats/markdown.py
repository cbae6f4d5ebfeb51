"""Rows as a table of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sluice_client.cli.formats.row_format import Row, Shown, footer, is_number, value_text
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.query.query_answer import Column

_MARKS = re.compile(r"([\\|`*_<>\[\]&])")


class MarkdownFormat:
    """Writes a header and a line for each row. A value has no effect but its text."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def begin(self) -> Iterator[str]:
        """Yields the header."""
        yield _line([_plain(column.name) for column in self._columns])
        yield _line(["---:" if is_number(column) else "---" for column in self._columns])

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the lines."""
        yield from (_line([_cell(value) for value in row]) for row in rows)

    def end(self, count: Shown) -> Iterator[str]:
        """Yields a line about hidden rows, after an empty line that ends the table."""
        for line in footer(count):
            yield f"\n{line}"


def _cell(value: Any) -> str:
    return "*NULL*" if value is None else _plain(value_text(value))


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", safe_text(text))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
