"""Writes the rows of a query that has succeeded, with one chunk of them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from sluice_client.calls import Flow
from sluice_client.cli.command_session import Session
from sluice_client.cli.formats.choose_format import text_format
from sluice_client.cli.formats.csv_rows import csv_line
from sluice_client.cli.formats.row_format import BINARY, FOR_PEOPLE, Format, Shown
from sluice_client.cli.output import Output
from sluice_client.errors import UnexpectedAnswer
from sluice_client.progress.steps import Progress, Silent, reading
from sluice_client.query.query_answer import Manifest, QueryStatus
from sluice_client.results.text_chunks import get_csv_lines, get_json_rows
from sluice_client.retries import Context

T = TypeVar("T")
_PAGE_ROWS = 1000
"""A table is laid out for as many rows."""


def write_result(
    session: Session,
    status: QueryStatus,
    asked: Format,
    output: Output,
    *,
    max_rows: int,
    progress: Progress,
) -> None:
    """Writes the rows.

    Args:
        session: reads the chunks.
        status: of the query.
        asked: the format.
        output: takes the text or bytes.
        max_rows: of the formats for people; 0: all rows.
        progress: shows how many chunks are read, unless the output is on the screen.

    Raises:
        ResultExpired: the gateway does not have the rows any more.
    """
    manifest = status.manifest
    assert manifest is not None, "it has succeeded"
    source = _Source(session, status.query_id, manifest, Silent() if output.is_screen else progress)
    if asked in BINARY:
        _write_arrow(source, asked, output)
    elif asked is Format.CSV:
        _write_csv(source, output)
    else:
        _write_text(source, asked, output, max_rows)


@dataclass(frozen=True, slots=True)
class _Source:
    session: Session
    query_id: UUID
    manifest: Manifest
    progress: Progress

    def chunk(self, index: int, get: Callable[[UUID, int, Context], Flow[T]]) -> T:
        found = self.session.run(get(self.query_id, index, self.session.context))
        self.progress.show(reading(index + 1, self.manifest))
        return found


def _write_arrow(source: _Source, asked: Format, output: Output) -> None:
    from sluice_client.cli.formats.arrow_files import write_arrow
    from sluice_client.results.chunks import get_chunk

    write_arrow(asked, source.manifest, lambda index: source.chunk(index, get_chunk), output.stream)


def _write_csv(source: _Source, output: Output) -> None:
    for index in range(source.manifest.chunk_count):
        output.raw(source.chunk(index, get_csv_lines))
    if not source.manifest.chunk_count:
        names = [column.name for column in source.manifest.columns]
        output.raw(csv_line(names).encode(errors="replace"))


def _write_text(source: _Source, asked: Format, output: Output, max_rows: int) -> None:
    manifest = source.manifest
    writer = text_format(asked, manifest.columns, output.style, output.width)
    is_bounded = asked in FOR_PEOPLE and max_rows > 0
    wanted = min(manifest.row_count, max_rows) if is_bounded else manifest.row_count
    output.text(writer.begin())
    for page in _pages(source, wanted):
        output.text(writer.page(page))
    output.text(writer.end(Shown(manifest.row_count, wanted)))


def _pages(source: _Source, wanted: int) -> Iterator[Sequence[Sequence[Any]]]:
    """Yields the first `wanted` rows. Chunks after these are not read."""
    left, width = wanted, len(source.manifest.columns)
    for index in range(source.manifest.chunk_count):
        if left <= 0:
            return
        rows = source.chunk(index, partial(get_json_rows, width))[:left]
        left -= len(rows)
        for start in range(0, len(rows), _PAGE_ROWS):
            yield rows[start : start + _PAGE_ROWS]
    if left > 0:
        raise UnexpectedAnswer(f"the chunks have {left} rows less than the result")
