"""The metrics store's table of saved queries."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class SavedQueryRow(Base):
    """A saved query."""

    __tablename__ = "saved_queries"

    saved_query_id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    sql: Mapped[str]
    catalog: Mapped[str | None]
    schema: Mapped[str | None]
    is_shared: Mapped[bool]
    version: Mapped[int]
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]

    __table_args__ = (
        Index("ix_saved_queries_owner_changed_at", "owner", "changed_at"),
        Index("ix_saved_queries_shared", "changed_at", postgresql_where=text("is_shared")),
    )
