"""Events as lines of JSON: for the export, and for the log if an event cannot be stored."""

from __future__ import annotations

import json
from typing import Any

from service.model.audit.events import AuditEntry, AuditEvent


def entry_line(entry: AuditEntry) -> str:
    """Returns a stored event as one line of NDJSON, with the newline."""
    fields = {"position": entry.position, "storedAt": entry.stored_at.isoformat()} | event_fields(entry.event)
    return f"{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n"


def event_text(event: AuditEvent) -> str:
    """Returns an event for the gateway's own log, without the text of its statement."""
    return json.dumps(event_fields(event) | {"statement": None}, separators=(",", ":"))


def event_fields(event: AuditEvent) -> dict[str, Any]:
    """Returns the fields of an event under their names in the export."""
    origin, details = event.origin, event.details
    return {
        "eventId": str(event.event_id),
        "at": event.at.isoformat(),
        "action": str(event.action),
        "outcome": str(event.outcome),
        "errorCode": event.error_code,
        "principal": origin.principal,
        "principalKind": origin.kind,
        "principalClass": origin.caller_class,
        "roles": list(origin.roles),
        "keyId": origin.key_id,
        "address": origin.address,
        "requestId": origin.request_id,
        "queryId": None if details.query_id is None else str(details.query_id),
        "ingestId": None if details.ingest_id is None else str(details.ingest_id),
        "target": details.target,
        "fingerprint": details.fingerprint,
        "statement": details.statement,
        "tables": list(details.tables),
        "columns": {table: list(names) for table, names in details.columns.items()},
        "policies": list(details.policies),
        "isShortened": details.is_shortened,
        "rowCount": details.row_count,
        "byteCount": details.byte_count,
        "durationMs": event.duration_ms,
        "count": event.count,
    }
