"""Converts ingest records to and from rows of the ingest log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC

from service.adapters.postgres.ingest_log.evolution_values import evolution_values, evolutions_of
from service.adapters.postgres.ingest_log.ingest_tables import IngestCommitRow, IngestRow
from service.adapters.postgres.shared.storable import storable
from service.committables import write_results_to_bytes
from service.model.ingest.ingest import (
    BadRecord,
    IngestCommit,
    IngestRecord,
    Rejected,
    WrittenTarget,
    written_target,
)
from service.model.ingest.validation_schema import validated_schemas_from_bytes, validated_schemas_to_bytes
from service.model.ingest.writing import TableKey, WriteResult, WriteTarget
from service.model.json_fields import JsonFields
from service.model.tables.tables import TableName
from service.tracing import TraceContext


def ingest_values(record: IngestRecord) -> dict[str, object]:
    """Returns the record's row in `ingests`."""
    return {
        "ingest_id": record.ingest_id,
        "caller": storable(record.caller),
        "request_id": record.request_id,
        "fingerprint": storable(record.fingerprint),
        "accepted_at": record.accepted_at,
        "stream_batch": record.stream_batch,
        "rejected_count": record.rejected.count,
        "rejected_samples": [_sample_value(sample) for sample in record.rejected.samples],
        "write_ms": record.write_ms,
        "evolutions": evolution_values(record.evolutions),
        "judged_by": None
        if record.validated_schemas is None
        else validated_schemas_to_bytes(record.validated_schemas),
        "traceparent": None if record.trace is None else record.trace.traceparent,
    }


def commit_values(record: IngestRecord, results: Sequence[WriteResult]) -> list[dict[str, object]]:
    """Returns the record's rows in `ingest_commits`, each with the results of its table and branch.

    Raises:
        ValueError: the record has a table and branch twice, or lacks that of a result.
    """
    keys = [commit.key for commit in record.commits]
    if len(set(keys)) < len(keys) or not {result.target.key for result in results} <= set(keys):
        raise ValueError("an ingest has each table and branch once, and results for no other")
    return [
        {
            "ingest_id": record.ingest_id,
            "ordinal": ordinal,
            **key_values(commit.key),
            "targets": [_target_value(target) for target in commit.targets],
            **_result_values([result for result in results if result.target.key == commit.key]),
            "snapshot_id": commit.snapshot_id,
            "error_code": commit.error_code,
            "error_detail": commit.error_detail and storable(commit.error_detail),
        }
        for ordinal, commit in enumerate(record.commits)
    ]


def key_values(key: TableKey) -> dict[str, object]:
    """Returns the columns that name a table and branch."""
    return {
        "catalog": key.table.catalog,
        "schema": key.table.schema,
        "table_name": key.table.table,
        "branch": key.branch,
    }


def revised_values(results: Sequence[WriteResult]) -> dict[str, object]:
    """Returns the columns of a row in `ingest_commits` whose results are replaced by these."""
    return {
        "targets": [_target_value(written_target(result)) for result in results],
        **_result_values(results),
    }


def late_targets(results: Sequence[WriteResult], late_counts: Sequence[int]) -> list[dict[str, object]]:
    """Returns the column `targets` of a row whose results had these late records."""
    return [
        _target_value(replace(written_target(result), late_count=late))
        for result, late in zip(results, late_counts, strict=True)
    ]


def ingest_record(row: IngestRow) -> IngestRecord:
    """Returns the record as it is now."""
    return IngestRecord(
        ingest_id=row.ingest_id,
        caller=row.caller,
        request_id=row.request_id,
        fingerprint=row.fingerprint,
        accepted_at=row.accepted_at.astimezone(UTC),
        commits=tuple(_commit(commit) for commit in row.commits),
        rejected=Rejected(
            row.rejected_count, tuple(_sample(JsonFields(sample)) for sample in row.rejected_samples)
        ),
        stream_batch=row.stream_batch,
        write_ms=row.write_ms,
        evolutions=evolutions_of(row.evolutions),
        validated_schemas=None if row.judged_by is None else validated_schemas_from_bytes(row.judged_by),
        trace=TraceContext.of(row.traceparent),
    )


def _result_values(results: Sequence[WriteResult]) -> dict[str, object]:
    return {
        "layout": " ".join(sorted({_layout(result.target) for result in results})),
        "is_upsert": any(result.target.is_upsert for result in results),
        "file_count": sum(len(result.data_files) + len(result.delete_files) for result in results),
        "record_count": sum(result.record_count + result.delete_count for result in results),
        "byte_count": sum(result.byte_count for result in results),
        "results": write_results_to_bytes(results),
    }


def _layout(target: WriteTarget) -> str:
    layout = f"{target.table_uuid}/{target.schema_id}/{target.spec_id}"
    if target.order_field_id is None:
        return layout
    # A round has either no order, or one: records are compared by it, and those of other writes have none.
    keys = ",".join(map(str, target.equality_field_ids))
    return f"{layout}/{keys}/{target.order_field_id}"


def _sample_value(bad: BadRecord) -> dict[str, object]:
    return {
        "place": storable(bad.place),
        "reason": storable(bad.reason),
        "line": bad.line,
        "column": bad.column,
        "row": bad.row,
    }


def _sample(fields: JsonFields) -> BadRecord:
    numbers = (fields.optional_integer(name) for name in ("line", "column", "row"))
    return BadRecord(fields.text("place"), fields.text("reason"), *numbers)


def _target_value(target: WrittenTarget) -> dict[str, object]:
    return {
        "column_ids": target.column_ids,
        "data_file_count": target.data_file_count,
        "record_count": target.record_count,
        "byte_count": target.byte_count,
        "equality_field_ids": target.equality_field_ids,
        "sort_order_id": target.sort_order_id,
        "delete_count": target.delete_count,
        "order_field_id": target.order_field_id,
        "late_count": target.late_count,
    }


def _commit(row: IngestCommitRow) -> IngestCommit:
    key = TableKey(TableName(row.catalog, row.schema, row.table_name), row.branch)
    targets = tuple(_target(key, JsonFields(target)) for target in row.targets)
    return IngestCommit(key, targets, row.snapshot_id, row.error_code, row.error_detail)


def _target(key: TableKey, fields: JsonFields) -> WrittenTarget:
    return WrittenTarget(
        key,
        fields.optional_integers("column_ids"),
        fields.integer("data_file_count"),
        fields.integer("record_count"),
        fields.integer("byte_count"),
        # Rows written before upserts existed do not have it.
        fields.integers("equality_field_ids") if fields.has("equality_field_ids") else (),
        # Rows written before writes had sort orders do not have it.
        fields.optional_integer("sort_order_id") if fields.has("sort_order_id") else None,
        # Rows written before records could delete do not have it.
        fields.integer("delete_count") if fields.has("delete_count") else 0,
        # Rows written before records had an order do not have these.
        fields.optional_integer("order_field_id") if fields.has("order_field_id") else None,
        fields.integer("late_count") if fields.has("late_count") else 0,
    )
