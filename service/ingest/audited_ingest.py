"""Notes what an ingest writes, for the audit of its request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

from service import audited
from service.audited import AuditedRequest
from service.errors.gateway_error import CallerError, GatewayError
from service.ingest.write_schema.cached_write_schemas import cached_written_fields
from service.model.audit.bounded_names import with_names
from service.model.audit.events import Action, AuditEvent, Details, Origin, Outcome
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.writing import Destination
from service.ports.clock import Clock
from service.ports.stores.audit_log import AuditTrail

STREAM = "stream"
"""The kind of origin of an ingest that a stream makes, and not a request."""


@contextmanager
def audited_ingest(
    request: IngestRequest, caller: str, trail: AuditTrail, clock: Clock
) -> Iterator[AuditedRequest | None]:
    """Notes the tables of an ingest. If it belongs to no request, its event is written here.

    Raises:
        AuditLogFull: it belongs to no request, and cannot be audited now.
    """
    if audited.current() is not None:
        note_requested(request)
        yield audited.current()
        return
    trail.reserve()
    own = AuditedRequest(Origin(caller, STREAM))
    at, began_ms = clock.now(), clock.elapsed_ms()
    error: GatewayError | None = GatewayError()
    try:
        with audited.serving(own):
            note_requested(request)
            yield own
        error = None
    except GatewayError as failure:
        error = failure
        raise
    finally:
        event = AuditEvent(
            event_id=uuid4(),
            at=at,
            action=Action.INGEST,
            outcome=_outcome(error),
            origin=own.origin,
            details=own.details,
            error_code=None if error is None else error.code,
            duration_ms=clock.elapsed_ms() - began_ms,
        )
        trail.write(event, is_reserved=True)


def note_requested(request: IngestRequest) -> None:
    """Notes the tables that the request names."""
    audited.note(with_names(Details(), (str(write.key.table) for write in request.writes), {}))


def note_destinations(destinations: Sequence[Destination]) -> None:
    """Notes the tables and the columns that will be written."""
    request = audited.current()
    if request is None:
        return
    columns: dict[str, tuple[str, ...]] = {}
    for destination in destinations:
        table, ids = destination.table, destination.target.write_schema_column_ids
        names = tuple(field.name for field in cached_written_fields(table.schema, ids))
        columns[str(table.key.table)] = (*columns.get(str(table.key.table), ()), *names)
    audited.note(with_names(request.details, (), columns))


def note_accepted(record: IngestRecord) -> None:
    """Notes the accepted ingest, and how much it writes."""
    request = audited.current()
    if request is None:
        return
    targets = [target for commit in record.commits for target in commit.targets]
    details = replace(
        request.details,
        ingest_id=record.ingest_id,
        row_count=sum(target.change_count for target in targets),
        byte_count=sum(target.byte_count for target in targets),
    )
    tables = (str(commit.key.table) for commit in record.commits)
    audited.note(with_names(details, tables, details.columns))


def _outcome(error: GatewayError | None) -> Outcome:
    if error is None:
        return Outcome.ALLOWED
    return Outcome.REFUSED if isinstance(error, CallerError) else Outcome.FAILED
