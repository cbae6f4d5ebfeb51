"""What PyIceberg knows of a table, in the gateway's terms."""

from __future__ import annotations

from datetime import UTC, datetime

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot as IcebergSnapshot

from service.model.tables import (
    PartitionField,
    Snapshot,
    SortField,
    TableColumn,
    TableFacts,
    TableName,
)

_SNAPSHOTS_AT_MOST = 100


def table_facts(name: TableName, table: Table) -> TableFacts:
    """The table as its metadata describes it; a count is 0 without a snapshot or a writer's own count."""
    snapshot = table.current_snapshot()
    schema = table.schema()
    return TableFacts(
        name=name,
        table_uuid=table.metadata.table_uuid,
        format_version=table.metadata.format_version,
        location=table.location(),
        schema_id=schema.schema_id,
        spec_id=table.spec().spec_id,
        snapshot_id=snapshot.snapshot_id if snapshot else None,
        columns=_columns(schema),
        partition_fields=_partition_fields(table),
        sort_fields=_sort_fields(table),
        snapshots=_snapshots(table),
        record_count=_total("total-records", snapshot),
        data_file_count=_total("total-data-files", snapshot),
        total_bytes=_total("total-files-size", snapshot),
    )


def _columns(schema: Schema) -> tuple[TableColumn, ...]:
    return tuple(
        TableColumn(each.field_id, each.name, str(each.field_type), each.required, each.doc)
        for each in schema.fields
    )


def _partition_fields(table: Table) -> tuple[PartitionField, ...]:
    return tuple(
        PartitionField(each.name, _source(table, each.source_id), str(each.transform))
        for each in table.spec().fields
    )


def _sort_fields(table: Table) -> tuple[SortField, ...]:
    return tuple(
        SortField(
            _source(table, each.source_id), str(each.transform), each.direction.value, each.null_order.value
        )
        for each in table.sort_order().fields
    )


def _source(table: Table, field_id: int) -> str:
    # A dropped column may still be the source of a field; then an earlier schema has its name.
    schemas = [table.schema(), *reversed(table.metadata.schemas)]
    return next((name for each in schemas if (name := each.find_column_name(field_id))), f"#{field_id}")


def _snapshots(table: Table) -> tuple[Snapshot, ...]:
    newest_first = sorted(
        table.snapshots(), key=lambda each: (each.sequence_number or 0, each.timestamp_ms), reverse=True
    )
    return tuple(_snapshot(each) for each in newest_first[:_SNAPSHOTS_AT_MOST])


def _snapshot(snapshot: IcebergSnapshot) -> Snapshot:
    return Snapshot(
        snapshot.snapshot_id,
        snapshot.parent_snapshot_id,
        datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC),
        snapshot.summary.operation.value if snapshot.summary else None,
    )


def _total(key: str, snapshot: IcebergSnapshot | None) -> int:
    if snapshot is None or snapshot.summary is None:
        return 0
    return int(snapshot.summary[key] or 0)
