"""Rows as one JSON array, or as a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sluice_client.cli.formats.row_format import Row, Shown, row_object
from sluice_client.query.query_answer import Column


class JsonFormat:
    """Writes an array, with an object a line. Values are those of the gateway's JSON."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._names = [column.name for column in columns]
        self._has_rows = False

    def begin(self) -> Iterator[str]:
        """Yields the array's beginning."""
        yield "["

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the objects."""
        for row in rows:
            yield (",\n " if self._has_rows else "\n ") + _object(self._names, row)
            self._has_rows = True

    def end(self, count: Shown) -> Iterator[str]:  # noqa: ARG002 - all rows are written
        """Yields the array's end."""
        yield "\n]\n" if self._has_rows else "]\n"


class JsonLinesFormat:
    """Writes an object a line."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._names = [column.name for column in columns]

    def begin(self) -> Iterator[str]:
        """Yields nothing."""
        yield from ()

    def page(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yields the lines."""
        yield from (_object(self._names, row) + "\n" for row in rows)

    def end(self, count: Shown) -> Iterator[str]:  # noqa: ARG002 - all rows are written
        """Yields nothing."""
        yield from ()


def _object(names: Sequence[str], row: Row) -> str:
    text = json.dumps(row_object(names, row), ensure_ascii=False)
    if text.isprintable():
        return text
    # A terminal obeys some characters, and a lone surrogate has no bytes.
    return json.dumps(row_object(names, row)).replace("\x7f", "\\u007f")
