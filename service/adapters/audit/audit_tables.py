"""The metrics store's table of audited events."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Identity, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class AuditRow(Base):
    """One event. Triggers of the migration refuse to change it, and to delete it within a day."""

    __tablename__ = "audit_events"

    position: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    stored_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"), index=True)
    event_id: Mapped[UUID]
    at: Mapped[datetime]
    action: Mapped[str]
    outcome: Mapped[str]
    error_code: Mapped[str | None]
    principal: Mapped[str]
    principal_kind: Mapped[str]
    principal_class: Mapped[str]
    roles: Mapped[list[str]]
    key_id: Mapped[str | None]
    address: Mapped[str | None]
    request_id: Mapped[str | None]
    query_id: Mapped[UUID | None]
    ingest_id: Mapped[UUID | None]
    target: Mapped[str | None]
    fingerprint: Mapped[str | None]
    statement: Mapped[str | None]
    tables: Mapped[list[str]]
    columns: Mapped[dict[str, Any]] = mapped_column(JSONB())
    policies: Mapped[list[str]]
    is_shortened: Mapped[bool]
    row_count: Mapped[int | None]
    byte_count: Mapped[int | None]
    duration_ms: Mapped[int | None]
    count: Mapped[int]

    __table_args__ = (Index("ix_audit_events_event_id", "event_id", unique=True),)
