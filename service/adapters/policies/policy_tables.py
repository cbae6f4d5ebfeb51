"""The metrics store's tables of policies and of their changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Identity
from sqlalchemy.orm import Mapped, mapped_column

from service.adapters.postgres.shared.metrics_tables import Base


class PolicyRow(Base):
    """One policy. `kind` says which of the last three columns it has."""

    __tablename__ = "policies"

    policy_id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    kind: Mapped[str]
    role: Mapped[str]
    table_pattern: Mapped[str]
    action: Mapped[str | None]
    column_name: Mapped[str | None]
    expression: Mapped[str | None]


class PolicyChangeRow(Base):
    """One change. The largest version is the current one."""

    __tablename__ = "policy_changes"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    changed_at: Mapped[datetime]
    changed_by: Mapped[str]
    added: Mapped[list[dict[str, Any]]]
    removed: Mapped[list[dict[str, Any]]]
