"""The metrics store's tables; `migrations/` creates them, and a test compares the two."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, MetaData, Text, false, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}


class Base(DeclarativeBase):
    """The common base of all tables: the names of constraints, and the types of columns."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text(),
        int: BigInteger(),
        datetime: DateTime(timezone=True),
        dict[str, str]: JSONB(),
        list[str]: JSONB(),
        list[dict[str, Any]]: JSONB(),
        list[int | None]: JSONB(),
        list[tuple[str, str]]: JSONB(),
    }


class QueryRow(Base):
    """One query, however it ended."""

    __tablename__ = "queries"

    query_id: Mapped[UUID] = mapped_column(primary_key=True)
    caller: Mapped[str]
    sql: Mapped[str]
    state: Mapped[str]
    submitted_at: Mapped[datetime] = mapped_column(index=True)
    catalog: Mapped[str | None]
    schema: Mapped[str | None]
    request_id: Mapped[UUID | None]
    fingerprint: Mapped[str]
    tags: Mapped[dict[str, str]]
    error_code: Mapped[str | None]
    error_detail: Mapped[str | None]
    queued_ms: Mapped[int]
    planning_ms: Mapped[int]
    running_ms: Mapped[int]
    row_count: Mapped[int]
    byte_count: Mapped[int]
    spark_plan: Mapped[str]
    rewritten_sql: Mapped[str | None]
    parse_ms: Mapped[int]
    detect_ms: Mapped[int]
    filters_ms: Mapped[int]
    rewrites: Mapped[list[dict[str, Any]]]
    verification: Mapped[str | None]
    traceparent: Mapped[str | None]
    reused_from: Mapped[UUID | None]
    reused_age_ms: Mapped[int | None]
    scans: Mapped[list[ScanRow]] = relationship(order_by="ScanRow.ordinal", lazy="selectin")
    filters: Mapped[list[FilterRow]] = relationship(order_by="FilterRow.ordinal", lazy="selectin")

    __table_args__ = (
        Index(
            "ix_queries_caller_request_id",
            "caller",
            "request_id",
            unique=True,
            postgresql_where="request_id IS NOT NULL",
        ),
        Index("ix_queries_caller_submitted_at", "caller", "submitted_at"),
    )


class ScanRow(Base):
    """One scan of a query, level by level as *selected of total*."""

    __tablename__ = "scans"

    query_id: Mapped[UUID] = mapped_column(
        ForeignKey("queries.query_id", ondelete="CASCADE"), primary_key=True
    )
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    table_name: Mapped[str]
    snapshot_id: Mapped[int | None]
    partitions_total: Mapped[int]
    partitions_selected: Mapped[int]
    manifests_total: Mapped[int]
    manifests_selected: Mapped[int]
    data_files_total: Mapped[int]
    data_files_selected: Mapped[int]
    bytes_total: Mapped[int]
    bytes_selected: Mapped[int]
    rows_total: Mapped[int]
    rows_selected: Mapped[int]
    planning_ms: Mapped[int]
    has_run: Mapped[bool] = mapped_column(server_default=true())
    is_native: Mapped[bool | None]
    columns: Mapped[list[str]] = mapped_column(server_default="[]")
    predicates: Mapped[list[dict[str, Any]]] = mapped_column(server_default="[]")


class FilterRow(Base):
    """One candidate filter of a query, applied or not. Tables are full names; the build side has lists."""

    __tablename__ = "filters"

    query_id: Mapped[UUID] = mapped_column(
        ForeignKey("queries.query_id", ondelete="CASCADE"), primary_key=True
    )
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    filter_id: Mapped[str]
    join_type: Mapped[str]
    probe_table: Mapped[str]
    probe_columns: Mapped[list[str]]
    probe_types: Mapped[list[str]]
    probe_snapshot_id: Mapped[int | None]
    probe_alias: Mapped[str] = mapped_column(server_default="")
    probe_mention: Mapped[int | None]
    build_tables: Mapped[list[str]]
    build_columns: Mapped[list[str]]
    build_predicate: Mapped[str]
    build_snapshot_ids: Mapped[list[int | None]]
    build_is_union: Mapped[bool] = mapped_column(server_default=false())
    source: Mapped[str]
    form: Mapped[str]
    reason: Mapped[str]
    value_count: Mapped[int]
    byte_count: Mapped[int]
    ranges: Mapped[list[tuple[str, str]]]
    exceeds_threshold: Mapped[bool]
    collection_ms: Mapped[int]
    cache_note: Mapped[str]
    detail: Mapped[str] = mapped_column(server_default="")
