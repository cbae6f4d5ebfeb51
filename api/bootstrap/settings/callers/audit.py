"""Settings of the audit log."""

from __future__ import annotations

from pydantic import BaseModel, Field

from service.model.audit.events import WhenFull


class AuditSettings(BaseModel):
    """Whether callers are audited, and how long events are kept."""

    audit: bool = Field(True, description="who does what is written to the audit log in the metrics store")
    audit_statement_text: bool = Field(
        False,
        description="the audit log has the texts of statements, not only their fingerprints; texts may hold"
        " values that are worth protecting",
    )
    audit_retention_days: int = Field(
        365, ge=1, le=36_500, description="how long audit events are kept, at least a day"
    )
    audit_buffer_events: int = Field(
        10_000, ge=100, le=1_000_000, description="audit events that wait while the metrics store is down"
    )
    audit_when_full: WhenFull = Field(
        WhenFull.DROP,
        description="if the buffer of audit events is full: `refuse` answers audited requests with a 503,"
        " `drop` serves them, counts the lost events, and writes them to the gateway's own log",
    )
