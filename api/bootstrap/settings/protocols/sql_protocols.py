"""Settings that all servers of SQL protocols share."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SqlProtocolSettings(BaseModel):
    """Bounds of what drivers ask for beside queries."""

    max_listed_entries: int = Field(
        100_000,
        ge=100,
        le=10_000_000,
        description="tables or columns in the answer of a driver's metadata call; beyond it, it fails",
    )
