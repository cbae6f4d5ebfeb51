"""Where records of queries and ingests are kept."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr, field_validator

from api.settings.store_urls import check_postgres_url


class RecordSettings(BaseModel):
    """Where records of queries and ingests are kept."""

    metrics_store_url: SecretStr | None = Field(
        None,
        description="PostgreSQL, `postgresql://…`, with one host or several of which one takes writes; unset:"
        " the embedded one",
    )
    metrics_store_failover_s: float = Field(
        10.0,
        ge=0,
        le=60,
        description="how long an ingest waits for a metrics store that has just gone, and whose standby may"
        " take its place, before a 503",
    )
    metrics_retention_days: int = Field(30, ge=1, le=3650, description="how long query records are kept")
    metrics_buffer_records: int = Field(
        10_000, ge=1, le=1_000_000, description="records that wait while the metrics store is down"
    )

    @field_validator("metrics_store_url")
    @classmethod
    def _is_of_postgresql(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_postgres_url(url.get_secret_value())
        return url
