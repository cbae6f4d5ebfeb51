"""Reads CSV with a header as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import BinaryIO

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.csv.csv_records import CsvRecord, NoCsv, csv_records
from service.ingest.decoding.streams.note_names import note_names
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import BadRow, Position, Rows
from service.ingest.decoding.values.known_columns import check_columns
from service.ingest.decoding.values.record_rows import BATCH_ROWS, RecordRows
from service.ingest.decoding.values.text_values import text_values
from service.model.ingest.ingest_request import Route

_BATCH_BYTES = 4 * 1024**2


def csv_rows(stream: BinaryIO, plan: ReadPlan, start: Position, bounds: ReadBounds) -> Iterator[Rows]:
    """Yields the rows of the records after the header; an empty value without quotes is null.

    Values of a column that the row's target does not have may only be null.

    Raises:
        IngestInvalid: the header is invalid, or names a column that no target has; a record is too long or
            incomplete.
    """
    records = csv_records(stream, bounds.line_bytes, start.number - 1)
    header = _header(records)
    names = _names(header)
    check_columns(names, plan)
    # Together with the header, each record is a complete body.
    rows = RecordRows(plan, text_values, header.raw + b"\n")
    # The rest of a record has the names of its fields.
    more_bytes = len(header.raw) if any(target.rest is not None for target in plan.targets) else 0
    waiting_bytes = waiting = 0
    for record in records:
        bad = _taken(record, names, header, rows, start.number - 1)
        if bad is not None:
            yield bad
        waiting, waiting_bytes = waiting + 1, waiting_bytes + len(record.raw) + more_bytes
        if waiting >= BATCH_ROWS or waiting_bytes >= _BATCH_BYTES:
            waiting = waiting_bytes = 0
            yield from rows.batches()
    yield from rows.batches()


def csv_names(
    stream: BinaryIO, route: Route | None, known: Sequence[Set[str]], bounds: ReadBounds
) -> list[set[str]]:
    """Returns each target's names, as `note_names` collects them, that have a value in one of its records."""
    found: list[set[str]] = [set() for _ in known]
    records = csv_records(stream, bounds.line_bytes)
    names = _names(_header(records))
    for record in records:
        try:
            values = dict(zip(names, record.values(), strict=True))
        except ValueError:
            continue
        target = 0 if route is None else route.target(values.get(route.field))
        if target is not None:
            present = {name for name, value in values.items() if value is not None}
            note_names(found[target], present, known[target])
    return found


def _header(records: Iterator[CsvRecord]) -> CsvRecord:
    header = next(records, None)
    if header is None or not header.raw:
        raise IngestInvalid("There is no header: the first line has to name the columns.")
    return header


def _names(header: CsvRecord) -> list[str]:
    try:
        names = [name or "" for name in header.values()]
    except NoCsv as error:
        raise IngestInvalid(f"The header is not a line of CSV: {error}.") from None
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or "" in names:
        what = f"names {twice[0]!r:.100} twice" if twice and twice[0] else "has a column without a name"
        raise IngestInvalid(f"The header {what}.")
    return names


def _taken(
    record: CsvRecord, names: list[str], header: CsvRecord, rows: RecordRows, lines_before: int
) -> BadRow | None:
    if not record.raw and len(names) > 1:
        return None
    position = Position(record.number + lines_before)
    try:
        values = record.values()
        if len(values) != len(names):
            raise NoCsv(f"there are {len(values)} values, and {len(names)} columns in the header")
    except NoCsv as error:
        return BadRow(position, str(error), header.raw + b"\n" + record.raw)
    sent = {name: value for name, value in zip(names, values, strict=True) if value is not None}
    return rows.take(sent, position, record.raw)
