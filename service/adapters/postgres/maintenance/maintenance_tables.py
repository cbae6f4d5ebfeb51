"""The maintenance log's table, in the metrics store's database; `migrations/` creates it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class MaintenanceRow(Base):
    """One maintenance of a table. A table has at most one that has not ended."""

    __tablename__ = "maintenance_runs"

    maintenance_id: Mapped[UUID] = mapped_column(primary_key=True)
    catalog: Mapped[str]
    schema: Mapped[str]
    table_name: Mapped[str]
    branch: Mapped[str]
    operations: Mapped[list[str]]
    snapshot_age_s: Mapped[int]
    snapshots_kept: Mapped[int]
    orphan_age_s: Mapped[int]
    requested_by: Mapped[str]
    requested_at: Mapped[datetime]
    state: Mapped[str]
    attempts: Mapped[int]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    results: Mapped[list[dict[str, object]]] = mapped_column(JSONB())
    error_code: Mapped[str | None]
    error_detail: Mapped[str | None]

    __table_args__ = (
        Index("ix_maintenance_runs_of_table", "catalog", "schema", "table_name", "requested_at"),
        Index(
            "ix_maintenance_runs_open",
            "catalog",
            "schema",
            "table_name",
            unique=True,
            postgresql_where="ended_at IS NULL",
        ),
    )
