"""Converts query records to and from rows of the metrics store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC
from typing import Any

from sqlalchemy import Row

from service.adapters.postgres.query_records.metrics_filter_rows import filter_of
from service.adapters.postgres.query_records.predicate_rows import predicate_of, stored_predicate
from service.adapters.postgres.query_records.row_group_rows import stored_row_groups, with_row_groups
from service.adapters.postgres.shared.metrics_tables import QueryRow, ScanRow
from service.adapters.postgres.shared.storable import storable
from service.model.query.query import QueryError, QueryRecord, QueryState
from service.model.query.reuse import Reused, ReuseKind
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.query.verification import Verification
from service.tracing import TraceContext

LEVELS = tuple(
    field.name for field in fields(PruningMetrics) if field.name not in {"planning_ms", "row_groups"}
)
# Replicas of the version before read the same rows during an update, and know only these names.
_STORED_REWRITES = {
    RewriteKind.JOIN_ELIMINATED: "JOIN_DROPPED",
    RewriteKind.VIEW_EXPANDED: "VIEW_OPENED",
}
# It fails at other names. It reads these kinds as ones that it knows; `named` has their own name.
_READ_AS = {RewriteKind.REFRESH: RewriteKind.READ_OPTIONS}
_STORED_VERIFICATIONS = {Verification.NOT_PRUNED: "NOT_NARROWED"}
_REWRITES = {kind.value: kind for kind in RewriteKind} | {
    name: kind for kind, name in _STORED_REWRITES.items()
}
_VERIFICATIONS = {verification.value: verification for verification in Verification} | {
    name: outcome for outcome, name in _STORED_VERIFICATIONS.items()
}


def query_values(record: QueryRecord) -> dict[str, object]:
    """Returns the record's row in `queries`."""
    error = record.error
    values: dict[str, object] = {
        "query_id": record.query_id,
        "caller": record.caller,
        "sql": record.sql,
        "state": record.state.value,
        "submitted_at": record.submitted_at,
        "catalog": record.catalog,
        "schema": record.schema,
        "request_id": record.request_id,
        "fingerprint": record.fingerprint,
        "tags": {storable(key): storable(value) for key, value in record.tags.items()},
        "error_code": error.code if error else None,
        "error_detail": error.detail if error else None,
        "queued_ms": record.queued_ms,
        "planning_ms": record.planning_ms,
        "running_ms": record.running_ms,
        "row_count": record.row_count,
        "byte_count": record.byte_count,
        "spark_plan": record.spark_plan,
        "rewritten_sql": record.rewritten_sql,
        "parse_ms": record.parse_ms,
        "detect_ms": record.detect_ms,
        "filters_ms": record.filters_ms,
        "verification": _stored_verification(record.verification),
        "traceparent": record.trace.traceparent if record.trace else None,
        "reused_from": record.reused.query_id if record.reused else None,
        "reused_age_ms": record.reused.age_ms if record.reused else None,
        "rewrites": [*map(_stored_rewrite, record.rewrites), *stored_row_groups(record.scans)],
    }
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}


def scan_values(record: QueryRecord) -> list[dict[str, object]]:
    """Returns the record's rows in `scans`."""
    return [
        {
            "query_id": record.query_id,
            "ordinal": ordinal,
            "table_name": storable(scan.table),
            "snapshot_id": scan.snapshot_id,
            "planning_ms": scan.metrics.planning_ms,
            "has_run": scan.has_run,
            "is_native": scan.is_native,
            "columns": [storable(column) for column in scan.columns],
            "predicates": [stored_predicate(predicate) for predicate in scan.predicates],
            **_level_values(scan.metrics),
        }
        for ordinal, scan in enumerate(record.scans)
    ]


def record_of(row: QueryRow) -> QueryRecord:
    """Returns the record that a row was made from, without what only a newer version knows."""
    error = QueryError(row.error_code, row.error_detail or "") if row.error_code else None
    return QueryRecord(
        query_id=row.query_id,
        caller=row.caller,
        sql=row.sql,
        state=QueryState(row.state),
        submitted_at=row.submitted_at.astimezone(UTC),
        catalog=row.catalog,
        schema=row.schema,
        request_id=row.request_id,
        fingerprint=row.fingerprint,
        tags=row.tags,
        error=error,
        queued_ms=row.queued_ms,
        planning_ms=row.planning_ms,
        running_ms=row.running_ms,
        row_count=row.row_count,
        byte_count=row.byte_count,
        scans=with_row_groups(map(scan_of, row.scans), row.rewrites),
        spark_plan=row.spark_plan,
        filters=tuple(filter_of(filter_record) for filter_record in row.filters),
        rewritten_sql=row.rewritten_sql,
        parse_ms=row.parse_ms,
        detect_ms=row.detect_ms,
        filters_ms=row.filters_ms,
        verification=_VERIFICATIONS.get(row.verification or ""),
        rewrites=tuple(_rewrite_of(rewrite) for rewrite in row.rewrites if _name_of(rewrite) in _REWRITES),
        trace=TraceContext.of(row.traceparent),
        reused=_reused_of(row),
    )


def _reused_of(row: QueryRow) -> Reused | None:
    if row.reused_from is None:
        return None
    # Only a query that was refreshed has a rewrite and another query's id.
    is_refreshed = any(_name_of(rewrite) == RewriteKind.REFRESH.value for rewrite in row.rewrites)
    kind = ReuseKind.REFRESHED if is_refreshed else ReuseKind.RESULT
    return Reused(row.reused_from, row.reused_age_ms or 0, kind)


def _stored_verification(verification: Verification | None) -> str | None:
    return _STORED_VERIFICATIONS.get(verification, verification.value) if verification else None


def _stored_rewrite(rewrite: RewriteRecord) -> dict[str, object]:
    kind = _READ_AS.get(rewrite.kind, rewrite.kind)
    return {
        "kind": _STORED_REWRITES.get(kind, kind.value),
        "table": storable(rewrite.table),
        "detail": storable(rewrite.detail),
        "mention": rewrite.table_reference,
        "filter_id": storable(rewrite.filter_id),
        **({} if kind is rewrite.kind else {"named": rewrite.kind.value}),
    }


def _name_of(stored: Mapping[str, Any]) -> str:
    name: str = stored.get("named", stored["kind"])
    return name


def _rewrite_of(stored: Mapping[str, Any]) -> RewriteRecord:
    """Former versions did not store all of it."""
    return RewriteRecord(
        _REWRITES[_name_of(stored)],
        stored["table"],
        stored["detail"],
        stored.get("mention"),
        stored.get("filter_id", ""),
    )


def _level_values(metrics: PruningMetrics) -> dict[str, object]:
    values: dict[str, object] = {}
    for level in LEVELS:
        selection: Selection = getattr(metrics, level)
        values[f"{level}_total"] = selection.total
        values[f"{level}_selected"] = selection.selected
    return values


def scan_of(row: ScanRow | Row[Any]) -> ScanRecord:
    """Returns the scan that a row was made from."""
    levels = {
        level: Selection(getattr(row, f"{level}_total"), getattr(row, f"{level}_selected"))
        for level in LEVELS
    }
    metrics = PruningMetrics(**levels, planning_ms=row.planning_ms)
    return ScanRecord(
        row.table_name,
        row.snapshot_id,
        metrics,
        row.has_run,
        row.is_native,
        tuple(row.columns),
        tuple(map(predicate_of, row.predicates)),
    )
