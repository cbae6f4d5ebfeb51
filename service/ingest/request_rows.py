"""Reads all records of a request as rows by write, and separates those that do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from service.ingest.decoding.json.rows_at_once import rows_at_once
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import FIRST, BadRow, Position, Rows, TargetRows
from service.ingest.decoding.streams.sought import opened_records
from service.ingest.decoding.values.exact_json import json_text
from service.ingest.decoding.values.record_rows import BATCH_ROWS, RecordRows
from service.model.ingest.ingest import BadRecord
from service.model.ingest.ingest_request import IngestRequest, StreamedRecords
from service.model.ingest.json_records import JsonRecords
from service.model.ingest.record_formats import RecordFormat
from service.ports.tables.data_files import Spools


@dataclass(frozen=True, slots=True)
class Unfit:
    """A record that does not fit, as it was sent; `write` is None where no route was found for it."""

    record: BadRecord
    payload: bytes
    record_format: RecordFormat
    write: int | None


def request_rows(
    request: IngestRequest, targets: Sequence[ReadTarget], bounds: ReadBounds, spools: Spools
) -> Iterator[TargetRows | Unfit]:
    """Yields rows by the request's writes, in their order; only a part of them is in memory at a time.

    Raises, while it is iterated:
        IngestInvalid: the body is not in its format, or expands beyond the `bounds`.
        TooManyIngests, StorageDown: the `spools` have no space to decompress it.
    """
    plan = ReadPlan(tuple(targets), request.route)
    match request.shared:
        case None:
            for index, write in enumerate(request.writes):
                own = ReadPlan((plan.targets[index],))
                yield from (_of_write(record, index) for record in _records(write.records, own, write.place))
        case StreamedRecords() as streamed:
            yield from _streamed(streamed, plan, bounds, spools)
        case records:
            yield from _records(records, plan, "")


def _streamed(
    streamed: StreamedRecords, plan: ReadPlan, bounds: ReadBounds, spools: Spools
) -> Iterator[TargetRows | Unfit]:
    has_lines = streamed.record_format.is_text
    payload_format = streamed.record_format if has_lines else RecordFormat.NDJSON
    with opened_records(streamed, bounds.body_bytes, spools) as stream:
        for row in read_rows(stream, streamed.record_format, plan, FIRST, bounds):
            if isinstance(row, BadRow):
                # An unparsable record has no route; without routes, there is only one write.
                write = 0 if plan.route is None else row.target
                yield Unfit(_reported(row, has_lines), row.payload, payload_format, write)
            else:
                yield row


def _reported(bad: BadRow, has_lines: bool) -> BadRecord:
    number = bad.position.number
    if has_lines:
        return BadRecord("", bad.reason, line=number, column=bad.position.column)
    return BadRecord("", bad.reason, row=number)


def _records(
    records: Sequence[Mapping[str, object]], plan: ReadPlan, place: str
) -> Iterator[TargetRows | Unfit]:
    at_once = rows_at_once(records, plan) if isinstance(records, JsonRecords) else None
    if at_once is not None:
        yield from at_once
        return
    for routed in _one_by_one(records, RecordRows(plan)):
        if isinstance(routed, BadRow):
            index = routed.position.number
            reported = BadRecord(f"{place}/records/{index}", routed.reason)
            # JSON escapes preserve lone surrogates, which cannot be encoded.
            yield Unfit(reported, json_text(records[index]).encode(), RecordFormat.NDJSON, routed.target)
        else:
            yield routed


def _one_by_one(records: Sequence[Mapping[str, object]], rows: RecordRows) -> Iterator[Rows]:
    for index, record in enumerate(records):
        bad = rows.take(record, Position(index), b"")
        if bad is not None:
            yield bad
        if (index + 1) % BATCH_ROWS == 0:
            yield from rows.batches()
    yield from rows.batches()


def _of_write(part: TargetRows | Unfit, index: int) -> TargetRows | Unfit:
    return replace(part, target=index) if isinstance(part, TargetRows) else replace(part, write=index)
