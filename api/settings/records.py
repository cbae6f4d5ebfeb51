"""Where records of queries and ingests are kept."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr


class RecordSettings(BaseModel):
    """Where records of queries and ingests are kept."""

    metrics_store_url: SecretStr | None = Field(None, description="PostgreSQL; unset: the embedded one")
    metrics_retention_days: int = Field(30, ge=1, le=3650, description="how long query records are kept")
    metrics_buffer_records: int = Field(
        10_000, ge=1, le=1_000_000, description="records that wait while the metrics store is down"
    )
