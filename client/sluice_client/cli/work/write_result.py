"""Writes the rows of a query that has succeeded, with one chunk of them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sluice_client.cli.formats.choose import text_format
from sluice_client.cli.formats.csv_rows import csv_line
from sluice_client.cli.formats.row_format import BINARY, FOR_PEOPLE, Format, Shown
from sluice_client.cli.output import Output
from sluice_client.cli.session import Session
from sluice_client.errors import UnexpectedAnswer
from sluice_client.query.query_answer import Manifest, QueryStatus
from sluice_client.results.text_chunks import get_csv_lines, get_json_rows

_PAGE_ROWS = 1000
"""A table is laid out for as many rows."""


def write_result(session: Session, status: QueryStatus, asked: Format, output: Output, max_rows: int) -> None:
    """Writes the rows.

    Args:
        session: reads the chunks.
        status: of the query.
        asked: the format.
        output: takes the text or bytes.
        max_rows: of the formats for people; 0: all rows.

    Raises:
        ResultExpired: the gateway does not have the rows any more.
    """
    manifest = status.manifest
    assert manifest is not None, "it has succeeded"
    if asked in BINARY:
        _write_arrow(session, status, manifest, asked, output)
    elif asked is Format.CSV:
        _write_csv(session, status, manifest, output)
    else:
        _write_text(session, status, manifest, asked, output, max_rows)


def _write_arrow(
    session: Session, status: QueryStatus, manifest: Manifest, asked: Format, output: Output
) -> None:
    from sluice_client.cli.formats.arrow_files import write_arrow
    from sluice_client.results.chunks import get_chunk

    def chunk(index: int) -> Any:
        return session.run(get_chunk(status.query_id, index, session.context))

    write_arrow(asked, manifest, chunk, output.stream)


def _write_csv(session: Session, status: QueryStatus, manifest: Manifest, output: Output) -> None:
    for index in range(manifest.chunk_count):
        output.raw(session.run(get_csv_lines(status.query_id, index, session.context)))
    if not manifest.chunk_count:
        names = [column.name for column in manifest.columns]
        output.raw(csv_line(names).encode(errors="replace"))


def _write_text(
    session: Session,
    status: QueryStatus,
    manifest: Manifest,
    asked: Format,
    output: Output,
    max_rows: int,
) -> None:
    writer = text_format(asked, manifest.columns, output.style, output.width)
    is_bounded = asked in FOR_PEOPLE and max_rows > 0
    wanted = min(manifest.row_count, max_rows) if is_bounded else manifest.row_count
    output.text(writer.begin())
    for page in _pages(session, status, manifest, wanted):
        output.text(writer.page(page))
    output.text(writer.end(Shown(manifest.row_count, wanted)))


def _pages(
    session: Session, status: QueryStatus, manifest: Manifest, wanted: int
) -> Iterator[Sequence[Sequence[Any]]]:
    """Yields the first `wanted` rows. Chunks after these are not read."""
    left = wanted
    for index in range(manifest.chunk_count):
        if left <= 0:
            return
        width = len(manifest.columns)
        rows = session.run(get_json_rows(status.query_id, index, width, session.context))[:left]
        left -= len(rows)
        for start in range(0, len(rows), _PAGE_ROWS):
            yield rows[start : start + _PAGE_ROWS]
    if left > 0:
        raise UnexpectedAnswer(f"the chunks have {left} rows less than the result")
