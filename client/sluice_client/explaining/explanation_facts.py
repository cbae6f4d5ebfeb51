"""The content of an explanation: scans, filters, plans and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice_client.query.query_answer import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The part of its table that one scan read. `rows_read` is None if the query was only planned.

    `row_groups` are those of Parquet files; None: it is not known of all files, or the gateway does not say.
    `data_files_left_out` are files that are not selected only because the same filter had selected none of
    their row groups before.
    """

    table: str
    partitions: Selection
    manifests: Selection
    data_files: Selection
    bytes: Selection
    rows_total: int
    rows_read: int | None
    has_run: bool
    row_groups: Selection | None = None
    data_files_left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One candidate of dynamic filtering, applied or not, with its reason."""

    filter_id: str
    probe_table: str
    probe_columns: tuple[str, ...]
    build_tables: tuple[str, ...]
    build_columns: tuple[str, ...]
    predicate: str
    source: str
    form: str
    values: int
    is_applied: bool
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationFacts:
    """The content of an explanation, without its display."""

    query_id: UUID | None
    """None: the query was only planned."""
    state: str
    sql: str
    rewritten_sql: str | None
    """None: the query runs as written."""
    error: str | None
    scans: tuple[Scan, ...]
    filters: tuple[Filter, ...]
    plans: Mapping[str, str]
    """By name: `ast`, `optimizedPhysical`, `execution` and `spark`."""
    timings_ms: Mapping[str, int]
    raw: Mapping[str, Any]
    """The whole answer of the gateway."""
