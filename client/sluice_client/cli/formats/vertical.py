"""A block for each row, with a line for each column: for rows that are wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sluice_client.cli.formats.row_format import Row, Shown, footer, value_text
from sluice_client.cli.terminal.cells import left, width
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.terminal.screen import Style
from sluice_client.query.query_answer import Column


class VerticalFormat:
    """Writes `name │ value` lines."""

    def __init__(self, columns: Sequence[Column], style: Style) -> None:
        self._names = [safe_text(column.name) for column in columns]
        self._width = max(map(width, self._names), default=0)
        self._style = style
        self._number = 0

    def begin(self) -> Iterator[str]:
        """Yields nothing."""
        yield from ()

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the blocks."""
        for row in rows:
            self._number += 1
            yield self._style.bold(f"─── row {self._number} ───") + "\n"
            for name, value in zip(self._names, row, strict=True):
                shown = self._style.dim("NULL") if value is None else safe_text(value_text(value))
                yield f"{left(name, self._width)} │ {shown}".rstrip() + "\n"

    def end(self, count: Shown) -> Iterator[str]:
        """Yields a line about hidden rows."""
        if not count.total:
            yield "(no rows)\n"
        yield from footer(count)
