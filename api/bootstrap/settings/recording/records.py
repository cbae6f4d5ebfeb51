"""Where records of queries and ingests are stored."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from api.bootstrap.settings.store_urls import check_postgres_url


class RecordSettings(BaseModel):
    """Where records of queries and ingests are stored."""

    metrics_store_url: SecretStr | None = Field(
        None,
        description="PostgreSQL, `postgresql://…`, with one host, or several, one of them writable; unset:"
        " the embedded one",
    )
    metrics_store_failover_s: float = Field(
        10.0,
        ge=0,
        le=60,
        description="how long an ingest waits for a metrics store that has just failed, and whose standby may"
        " take over, before a 503",
    )
    metrics_retention_days: int = Field(30, ge=1, le=3650, description="how long query records are kept")
    metrics_buffer_records: int = Field(
        10_000, ge=1, le=1_000_000, description="records that wait while the metrics store is down"
    )
    replica_heartbeat_interval_s: int = Field(
        3,
        ge=1,
        le=300,
        description="how often a gateway reports in the metrics store that it is alive",
    )
    replica_lost_after_s: int = Field(
        20,
        ge=3,
        le=3600,
        description="silence of a gateway after which its open queries are REPLICA_LOST; 3 intervals or more",
    )

    @field_validator("metrics_store_url")
    @classmethod
    def _is_of_postgresql(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_postgres_url(url.get_secret_value())
        return url

    replica_record_wait_s: float = Field(
        1,
        ge=0,
        le=30,
        description="how long a gateway looks for the record of a query that another one has just ended",
    )

    @model_validator(mode="after")
    def _is_patient_with_replicas(self) -> Self:
        if self.replica_lost_after_s >= 3 * self.replica_heartbeat_interval_s:
            return self
        raise ValueError(
            "replica_lost_after_s is less than 3 times replica_heartbeat_interval_s: one late beat would be"
            " taken for a lost gateway"
        )
