"""The metrics store's table of sessions that issuers' logins have opened."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class IssuerSessionRow(Base):
    """A session of a user, with the SHA-256 of its secret instead of the secret. It has no token."""

    __tablename__ = "issuer_sessions"

    session_id: Mapped[str] = mapped_column(primary_key=True)
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary())
    issuer: Mapped[str]
    issuer_url: Mapped[str]
    subject: Mapped[str]
    name: Mapped[str] = mapped_column(index=True)
    roles: Mapped[list[str]]
    user_until: Mapped[datetime]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
