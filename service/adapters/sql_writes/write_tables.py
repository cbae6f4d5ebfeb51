"""The metrics store's table of writes by SQL."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class SqlWriteRow(Base):
    """One write, from before it began."""

    __tablename__ = "sql_writes"

    query_id: Mapped[UUID] = mapped_column(primary_key=True)
    caller: Mapped[str]
    request_id: Mapped[UUID | None]
    fingerprint: Mapped[str]
    kind: Mapped[str]
    table_name: Mapped[str]
    state: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(index=True)
    ends_by: Mapped[datetime]
    snapshot_id: Mapped[int | None]
    rows_affected: Mapped[int | None]
    error_code: Mapped[str | None]
    error_detail: Mapped[str | None]

    __table_args__ = (
        Index(
            "ix_sql_writes_caller_request_id",
            "caller",
            "request_id",
            unique=True,
            postgresql_where="request_id IS NOT NULL",
        ),
    )
