"""Rows as a table: numbers on the right, NULL unlike an empty text, and no line wider than the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sluice_client.cli.formats.row_format import Row, Shown, footer, is_number, value_text
from sluice_client.cli.terminal.cells import ELLIPSIS, cut, left, right, width
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.terminal.screen import Style
from sluice_client.query.query_answer import Column

_GAP = 3
_NARROWEST = 8
"""The width of a column that is cut: below, no value can be recognised."""
_LONGEST_VALUE = 10_000
"""Characters of one value that are looked at: more are on no screen."""


@dataclass(frozen=True, slots=True)
class _Layout:
    widths: tuple[int, ...]
    """One for each column that is shown."""
    has_cut_values: bool


class TableFormat:
    """A table for each page. A page is laid out by its own rows, as psql does it."""

    def __init__(self, columns: Sequence[Column], style: Style, screen_width: int | None) -> None:
        self._columns = columns
        # No column takes less than one place and a gap: those after these are on no screen.
        self._looked_at = columns if screen_width is None else columns[: screen_width // (_GAP + 1) + 1]
        self._names = [safe_text(column.name) for column in self._looked_at]
        self._is_right = [is_number(column) for column in self._looked_at]
        self._style = style
        self._screen_width = screen_width
        self._pages = 0
        self._fewest_columns = len(columns)
        self._has_cut_values = False

    def begin(self) -> Iterator[str]:
        """Yields nothing: the first page decides the widths."""
        yield from ()

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the header and the rows."""
        count = len(self._looked_at)
        cells = [[self._cell(value) for value in row[:count]] for row in rows]
        layout = fitted(self._natural(cells), self._screen_width, hidden=len(self._columns) - count)
        self._has_cut_values |= layout.has_cut_values
        self._fewest_columns = min(self._fewest_columns, len(layout.widths))
        if self._pages:
            yield "\n"
        self._pages += 1
        yield self._line(self._names, layout, [self._style.bold] * len(self._names))
        more = "─┼─" if len(layout.widths) < len(self._columns) else ""
        yield "─┼─".join("─" * columns for columns in layout.widths) + more + "\n"
        for row, texts in zip(rows, cells, strict=True):
            yield self._line(texts, layout, [self._style.dim if value is None else str for value in row])

    def end(self, count: Shown) -> Iterator[str]:
        """Yields the header if there was no row, and a line about hidden rows and columns."""
        if not self._pages:
            yield from self.page(())
        notes = []
        if self._fewest_columns < len(self._columns):
            notes.append(
                f"{self._fewest_columns} of {len(self._columns)} columns fit: --format vertical shows all"
            )
        if self._has_cut_values:
            notes.append("values that end with … are cut")
        yield from footer(count, notes)

    def _cell(self, value: Any) -> str:
        if value is None:
            return "NULL"
        text = value_text(value)
        if self._screen_width is not None and len(text) > _LONGEST_VALUE:
            text = text[:_LONGEST_VALUE] + ELLIPSIS
        return safe_text(text)

    def _natural(self, cells: Sequence[Sequence[str]]) -> list[int]:
        widths = [width(name) for name in self._names]
        for row in cells:
            for index, text in enumerate(row):
                widths[index] = max(widths[index], width(text))
        return widths

    def _line(self, texts: Sequence[str], layout: _Layout, marks: Sequence[Any]) -> str:
        parts = []
        for index, columns in enumerate(layout.widths):
            text = cut(texts[index], columns)
            padded = right(text, columns) if self._is_right[index] else left(text, columns)
            parts.append(marks[index](padded))
        if len(layout.widths) < len(self._columns):
            parts.append(ELLIPSIS)
        return " │ ".join(parts).rstrip() + "\n"


def fitted(natural: Sequence[int], screen_width: int | None, *, hidden: int = 0) -> _Layout:
    """Returns the widths of the columns that fit. The widest are cut first, and the last left out.

    There are `hidden` more columns after these, which do not fit.

    >>> fitted([4, 100], 40).widths, fitted([30] * 9, 40).widths
    ((4, 33), (10, 10, 10))
    """
    if screen_width is None or (not hidden and _total(natural) <= screen_width):
        return _Layout(tuple(natural), has_cut_values=False)
    total, count = len(natural) + hidden, len(natural)
    while count > 1 and _smallest(natural[:count], has_more=count < total) > screen_width:
        count -= 1
    kept = list(natural[:count])
    room = screen_width - (_GAP + 1 if count < total else 0)
    widest = _widest_that_fits(kept, room)
    widths = tuple(min(columns, widest) for columns in kept)
    return _Layout(widths, has_cut_values=widths != tuple(kept))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * max(len(widths) - 1, 0)


def _smallest(natural: Sequence[int], *, has_more: bool) -> int:
    return _total([min(columns, _NARROWEST) for columns in natural]) + (_GAP + 1 if has_more else 0)


def _widest_that_fits(natural: Sequence[int], room: int) -> int:
    low, high = 1, max(natural)
    while low < high:
        middle = (low + high + 1) // 2
        if _total([min(columns, middle) for columns in natural]) <= room:
            low = middle
        else:
            high = middle - 1
    return low
