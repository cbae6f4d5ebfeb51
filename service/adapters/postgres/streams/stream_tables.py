"""The table of streams, in the metrics store's database; `migrations/` creates it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class StreamRow(Base):
    """One stream, whatever its state."""

    __tablename__ = "streams"

    stream_id: Mapped[UUID] = mapped_column(primary_key=True)
    caller: Mapped[str] = mapped_column(index=True)
    name: Mapped[str]
    body: Mapped[dict[str, Any]] = mapped_column(JSONB())
    created_at: Mapped[datetime]
    state: Mapped[str]
    error_code: Mapped[str | None]
    error_detail: Mapped[str | None]
    checkpoint_id: Mapped[UUID | None]
    last_batch_id: Mapped[int | None]
    last_batch_at: Mapped[datetime | None]
    batch_count: Mapped[int]
    record_count: Mapped[int]
    rejected_count: Mapped[int]
    request_id: Mapped[UUID | None]
    fingerprint: Mapped[str] = mapped_column(server_default="")
    principal_kind: Mapped[str | None]
    roles: Mapped[list[str] | None] = mapped_column(JSONB(none_as_null=True))
    key_id: Mapped[str | None]

    __table_args__ = (
        Index(
            "ix_streams_caller_request_id",
            "caller",
            "request_id",
            unique=True,
            postgresql_where="request_id IS NOT NULL",
        ),
    )
