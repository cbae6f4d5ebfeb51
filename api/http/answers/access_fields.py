"""The tables of a request, for its log line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

import structlog

from service import audited
from service.audit.audited_queries import with_tables
from service.model.ingest.ingest import IngestRecord
from service.model.policies.decisions import Access
from service.model.query.explanation import Explanation
from service.model.query.query import QueryRecord

TABLES_AT_MOST = 20


def note_query(record: QueryRecord) -> None:
    """Notes the tables that the query read; they are known once it has ended."""
    _note(scan.table for scan in record.scans)


def note_query_id(query_id: UUID) -> None:
    """Notes the query that the request is about, for its audit event."""
    request = audited.current()
    if request is not None:
        request.details = replace(request.details, query_id=query_id)


def note_explained(explanation: Explanation, access: Access) -> None:
    """Notes the tables that a query was planned with, for the audit event of its explanation."""
    request = audited.current()
    if request is not None:
        request.details = with_tables(request.details, explanation, access)


def note_ingest(record: IngestRecord) -> None:
    """Notes the tables that the ingest writes to."""
    structlog.contextvars.bind_contextvars(ingest_id=str(record.ingest_id))
    _note(str(commit.key.table) for commit in record.commits)


def _note(names: Iterable[str]) -> None:
    tables = list(dict.fromkeys(names))[:TABLES_AT_MOST]
    if tables:
        structlog.contextvars.bind_contextvars(tables=tables)
