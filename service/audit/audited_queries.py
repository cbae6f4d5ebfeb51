"""Turns the records of queries into events."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from uuid import UUID, uuid4

import structlog

from service.audit.applied_policies import applied_policies
from service.audit.audited_statements import ShownStatement, statement_details
from service.audit.outcomes import outcome_of
from service.errors.unavailable import MetricsStoreDown
from service.model.audit.bounded_names import with_names, with_policies
from service.model.audit.events import Action, AuditEvent, Details, Origin, Outcome
from service.model.policies.decisions import Access
from service.model.query.explanation import Explanation
from service.model.query.query import QueryRecord, QueryState
from service.ports.stores.audit_log import AuditTrail
from service.ports.stores.query_store import Journal, QueryStore

_log = structlog.get_logger(__name__)


def query_event(record: QueryRecord, shown: ShownStatement) -> AuditEvent:
    """Returns the event of a query that has ended."""
    error_code = None if record.error is None else record.error.code
    outcome = Outcome.FAILED if record.state is QueryState.CANCELED else outcome_of(error_code)
    is_read = outcome is Outcome.SUCCEEDED
    details = replace(
        statement_details(record.sql, shown),
        query_id=record.query_id,
        row_count=record.row_count if is_read else None,
        byte_count=record.byte_count if is_read else None,
    )
    return AuditEvent(
        event_id=uuid4(),
        at=record.submitted_at,
        action=Action.QUERY,
        outcome=outcome,
        origin=record.origin or Origin(record.caller),
        details=with_tables(details, record, record.access),
        error_code=error_code,
        duration_ms=record.queued_ms + record.planning_ms + record.running_ms,
    )


class AuditedJournal:
    """The `Journal` port around another one: each query that ends passes here once, and is audited."""

    def __init__(self, journal: Journal, trail: AuditTrail, shown: ShownStatement) -> None:
        self._journal = journal
        self._trail = trail
        self._shown = shown

    def append(self, record: QueryRecord) -> None:
        """Writes the query's event, and passes the record on."""
        self._trail.write(query_event(record, self._shown), is_reserved=record.origin is not None)
        self._journal.append(record)

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns a record that still waits to be written."""
        return self._journal.find(query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the same, by the id that this caller gave the request."""
        return self._journal.find_request(caller, request_id)

    def close(self) -> None:
        """Closes the other journal."""
        self._journal.close()


class LostQueries:
    """Audits the queries of a lost replica, which could not do so itself."""

    def __init__(self, store: QueryStore, trail: AuditTrail, shown: ShownStatement) -> None:
        self._store = store
        self._trail = trail
        self._shown = shown

    def audit(self, query_ids: Collection[UUID]) -> None:
        """Writes an event for each of these queries. Their records were stored when they were closed."""
        for query_id in query_ids:
            try:
                record = self._store.find(query_id)
            except MetricsStoreDown:
                record = None
            if record is None:
                _log.error("lost_query_not_audited", query_id=str(query_id))
            else:
                self._trail.write(query_event(record, self._shown))


def with_tables(details: Details, ended: QueryRecord | Explanation, access: Access) -> Details:
    """Adds the tables that a query read or was planned with, the columns of its scans, and applied policies.

    A table also counts if it was read for keys, if its rows were in memory, or if its join was eliminated.
    The engine says which policies it applied to its scans: below a view, these may be those of its definer.
    """
    columns: dict[str, list[str]] = {}
    for scan in ended.scans:
        columns.setdefault(scan.table, []).extend(scan.columns)
    named = with_names(details, (*columns, *_tables_beside_scans(ended), *_written(ended)), columns)
    others = named.tables if ended.applied is None else _tables_beside_scans(ended)
    return with_policies(named, dict.fromkeys((*(ended.applied or ()), *applied_policies(access, others))))


def _written(ended: QueryRecord | Explanation) -> Iterator[str]:
    """Yields the table that a statement has written to, its new name, and those that it has read for that."""
    if isinstance(ended, QueryRecord) and ended.write is not None:
        yield from map(str, ended.write.write.changed)
        yield from ended.write.write.reads


def _tables_beside_scans(ended: QueryRecord | Explanation) -> Iterator[str]:
    for filter_record in ended.filters:
        yield str(filter_record.probe.table)
        yield from map(str, filter_record.build.tables)
    for rewrite in ended.rewrites:
        yield rewrite.table
