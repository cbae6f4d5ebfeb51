"""Checks what a request says about records that delete or have an order, before any table is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.errors.ingest_errors import IngestInvalid
from service.model.ingest.ingest_request import IngestRequest, StreamedRecords, Write, WriteFault
from service.model.ingest.micro_batches import MicroBatchFiles
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.writing import TableKey


def check_changes(request: IngestRequest) -> None:
    """Checks that the writes say without contradiction which of their records delete, and which of them win.

    Raises:
        IngestInvalid: with every fault at once.
    """
    faults = [fault for write in request.writes for fault in _faults(write, request)]
    faults += _faults_of_orders(request.writes)
    if faults:
        raise IngestInvalid(faults[0].reason, faults)


def _faults(write: Write, request: IngestRequest) -> Iterator[WriteFault]:
    if write.is_delete:
        yield from _faults_of_delete(write)
    elif write.delete_when is not None and not write.is_upsert:
        reason = "Records delete by the keys of an upsert: send `mode` as `upsert`."
        yield WriteFault(f"{write.place}/deleteWhen", reason)
    if write.envelope is not None:
        yield from _faults_of_envelope(write, request)


def _faults_of_orders(writes: Sequence[Write]) -> Iterator[WriteFault]:
    """Yields orders of writes other than upserts, or that other writes to the same table do not share.

    Records of a request are compared with each other by their order before they are with the table.
    """
    upserts: dict[TableKey, Write] = {}
    for write in writes:
        place = f"{write.place}/orderBy"
        if write.order_by is not None and (write.is_delete or not write.is_upsert):
            yield WriteFault(
                place,
                "Records replace rows by their order in an upsert: send `mode` as `upsert`. Records that "
                "delete are part of it, with `deleteWhen`.",
            )
            continue
        first = upserts.setdefault(write.key, write)
        if (first.order_by, first.order_by and first.equality_fields) != (
            write.order_by,
            write.order_by and write.equality_fields,
        ):
            yield WriteFault(
                place,
                f"All writes of a request to {write.key.table} have the same orderBy and equalityFields, or "
                "none of them has an order: send the others in requests of their own.",
            )


def _faults_of_delete(write: Write) -> Iterator[WriteFault]:
    sent = {
        "writeSchema": write.write_schema is not None,
        "sortOrder": write.sort_order is not None,
        "schema": write.schema is not None and write.schema.schema is not None,
        "create": write.schema is not None and write.schema.create is not None,
        "deleteWhen": write.delete_when is not None,
        "rest": write.rest is not None,
    }
    for name, is_sent in sent.items():
        if is_sent:
            reason = f"A delete writes no rows, so it has no {name}: leave it out."
            yield WriteFault(f"{write.place}/{name}", reason)


def _faults_of_envelope(write: Write, request: IngestRequest) -> Iterator[WriteFault]:
    place = f"{write.place}/envelope"
    if not write.is_upsert or write.is_delete:
        yield WriteFault(place, "The events of an envelope write and delete: send `mode` as `upsert`.")
    if write.delete_when is not None:
        reason = "The envelope says which records delete: leave deleteWhen out."
        yield WriteFault(f"{write.place}/deleteWhen", reason)
    if write.is_inferred:
        reason = "The columns inside an envelope cannot be inferred: name them."
        yield WriteFault(f"{write.place}/writeSchema", reason)
    if request.route is not None:
        yield WriteFault(place, "Events in an envelope are not routed: send those of one table.")
    if _format(request) not in (None, RecordFormat.NDJSON):
        yield WriteFault(place, "Only JSON records can have an envelope.")


def _format(request: IngestRequest) -> RecordFormat | None:
    """Returns the format of the records; None for those of a JSON body, or of a topic."""
    match request.executed, request.shared:
        case SourceRecords(record_format=record_format), _:
            return record_format
        case MicroBatchFiles(records=records), _:
            return records.record_format
        case _, StreamedRecords(record_format=record_format):
            return record_format
        case _:
            return None
