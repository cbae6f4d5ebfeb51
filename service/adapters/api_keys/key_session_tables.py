"""The metrics store's table of browsers' sessions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class KeySessionRow(Base):
    """A session that stands for an API key, with the SHA-256 of its secret instead of the secret."""

    __tablename__ = "key_sessions"

    session_id: Mapped[str] = mapped_column(primary_key=True)
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary())
    key_id: Mapped[str] = mapped_column(index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
