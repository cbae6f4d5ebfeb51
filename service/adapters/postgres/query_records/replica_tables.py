"""The metrics store's tables of replicas and of their open queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, false, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base

NOW = text("clock_timestamp()")


class ReplicaRow(Base):
    """One run of one gateway process. Both times are from PostgreSQL's clock."""

    __tablename__ = "replicas"

    replica_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(server_default=NOW)
    last_seen: Mapped[datetime] = mapped_column(server_default=NOW, index=True)


class OpenQueryRow(Base):
    """A query that has not ended, or has no record yet; `elapsed_ms` is as of `told_at`.

    `progress` is its replica's report, which counts from `progress_at` to `progress_until`.
    """

    __tablename__ = "open_queries"

    query_id: Mapped[UUID] = mapped_column(primary_key=True)
    replica_id: Mapped[UUID] = mapped_column(
        ForeignKey("replicas.replica_id", ondelete="CASCADE"), index=True
    )
    caller: Mapped[str]
    sql: Mapped[str]
    state: Mapped[str]
    submitted_at: Mapped[datetime]
    catalog: Mapped[str | None]
    schema: Mapped[str | None]
    request_id: Mapped[UUID | None]
    fingerprint: Mapped[str]
    tags: Mapped[dict[str, Any]] = mapped_column(JSONB())
    queued_ms: Mapped[int]
    elapsed_ms: Mapped[int]
    told_at: Mapped[datetime] = mapped_column(server_default=NOW)
    is_canceled: Mapped[bool] = mapped_column(server_default=false())
    progress: Mapped[dict[str, Any] | None] = mapped_column(JSONB())
    progress_at: Mapped[datetime | None]
    progress_until: Mapped[datetime | None]
