"""The ingest log's tables, in the metrics store's database; `migrations/` creates them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Identity, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from service.adapters.postgres.shared.metrics_tables import Base


class IngestRow(Base):
    """One ingest, from its acceptance on."""

    __tablename__ = "ingests"

    ingest_id: Mapped[UUID] = mapped_column(primary_key=True)
    caller: Mapped[str]
    request_id: Mapped[UUID | None]
    fingerprint: Mapped[str]
    accepted_at: Mapped[datetime] = mapped_column(index=True)
    stream_batch: Mapped[str | None]
    rejected_count: Mapped[int] = mapped_column(server_default="0")
    rejected_samples: Mapped[list[dict[str, object]]] = mapped_column(JSONB(), server_default="[]")
    write_ms: Mapped[int]
    evolutions: Mapped[list[dict[str, object]]] = mapped_column(JSONB(), server_default="[]")
    judged_by: Mapped[bytes | None]
    traceparent: Mapped[str | None]
    commits: Mapped[list[IngestCommitRow]] = relationship(order_by="IngestCommitRow.ordinal", lazy="selectin")

    __table_args__ = (
        Index(
            "ix_ingests_caller_request_id",
            "caller",
            "request_id",
            unique=True,
            postgresql_where="request_id IS NOT NULL",
        ),
    )


class IngestCommitRow(Base):
    """One ingest's part for a table and branch; it waits while it has neither a snapshot nor an error.

    `results` are the write results as `service.committables` encodes them, until it has a
    snapshot. Rejected parts keep them, so that their rows can be found. `error_detail` without a code says
    why it waits. Rows of one `layout` were written for the same table, schema and partition spec.
    """

    __tablename__ = "ingest_commits"

    ingest_id: Mapped[UUID] = mapped_column(
        ForeignKey("ingests.ingest_id", ondelete="CASCADE"), primary_key=True
    )
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    arrival: Mapped[int] = mapped_column(Identity(always=True))
    catalog: Mapped[str]
    schema: Mapped[str]
    table_name: Mapped[str]
    branch: Mapped[str]
    targets: Mapped[list[dict[str, object]]] = mapped_column(JSONB())
    layout: Mapped[str]
    is_upsert: Mapped[bool]
    file_count: Mapped[int]
    record_count: Mapped[int]
    byte_count: Mapped[int]
    # Lists of ingests do not need it, and it may be megabytes.
    results: Mapped[bytes | None] = mapped_column(deferred=True)
    round_id: Mapped[UUID | None]
    snapshot_id: Mapped[int | None]
    committed_at: Mapped[datetime | None]
    error_code: Mapped[str | None]
    error_detail: Mapped[str | None]

    __table_args__ = (
        Index(
            "ix_ingest_commits_waiting",
            "catalog",
            "schema",
            "table_name",
            "branch",
            "arrival",
            postgresql_where="snapshot_id IS NULL AND error_code IS NULL",
        ),
        Index(
            "ix_ingest_commits_upserts",
            "catalog",
            "schema",
            "table_name",
            "branch",
            "committed_at",
            postgresql_where="is_upsert",
        ),
    )


class CommitRoundRow(Base):
    """One commit round that has ended: with a snapshot, or with all of it rejected."""

    __tablename__ = "commit_rounds"

    round_id: Mapped[UUID] = mapped_column(primary_key=True)
    catalog: Mapped[str]
    schema: Mapped[str]
    table_name: Mapped[str]
    branch: Mapped[str]
    ended_at: Mapped[datetime] = mapped_column(index=True)
    commit_ms: Mapped[int]
    ingest_count: Mapped[int]
    target_count: Mapped[int]
    file_count: Mapped[int]
    record_count: Mapped[int]
    byte_count: Mapped[int]
    snapshot_id: Mapped[int | None]
    error_code: Mapped[str | None]
