"""The metrics store's table of API keys."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class ApiKeyRow(Base):
    """A key, with the SHA-256 of its secret instead of the secret."""

    __tablename__ = "api_keys"

    key_id: Mapped[str] = mapped_column(primary_key=True)
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary())
    name: Mapped[str]
    roles: Mapped[list[str]] = mapped_column(server_default=text("'[]'"))
    description: Mapped[str] = mapped_column(server_default=text("''"))
    created_at: Mapped[datetime] = mapped_column(index=True)
    created_by: Mapped[str]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    revoked_by: Mapped[str | None]
