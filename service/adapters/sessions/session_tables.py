"""The metrics store's table of sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class SessionRow(Base):
    """A session with its values, as JSON."""

    __tablename__ = "sessions"

    session_id: Mapped[UUID] = mapped_column(primary_key=True)
    caller: Mapped[str] = mapped_column(index=True)
    session_values: Mapped[dict[str, Any]] = mapped_column(JSONB())
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime] = mapped_column(index=True)
