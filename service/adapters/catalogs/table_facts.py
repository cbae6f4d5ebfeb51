"""Converts PyIceberg's view of a table to the gateway's terms."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

from pyiceberg.partitioning import PartitionField as IcebergPartitionField
from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.snapshots import Snapshot as IcebergSnapshot
from pyiceberg.types import DecimalType, IcebergType

from service.adapters.catalogs.deleted_records import deleted_record_count
from service.adapters.catalogs.read_at import ReadAt, read_at
from service.model.identity import Identity
from service.model.tables.tables import (
    PartitionField,
    ReferenceKind,
    Snapshot,
    SortField,
    TableAt,
    TableColumn,
    TableFacts,
    TableName,
    TableReference,
)

_SNAPSHOTS_AT_MOST = 100
_REFERENCES_AT_MOST = 1_000
# Parquet stores decimals with more digits as bytes.
_DIGITS_OF_INT64 = 18
_MAX_CACHED_SCHEMAS = 128
_CHANGES = ("DELETE", "UPDATE", "MERGE")
_BLOOM_FILTER_PREFIX = "write.parquet.bloom-filter-enabled.column."


def table_facts(name: TableName, table: Table) -> TableFacts:
    """Returns the table as its metadata describes it; unknown counts are 0.

    A count is unknown without a snapshot, or if the writer did not record it.
    """
    return _facts(name, table, ReadAt(table.current_snapshot(), table.schema()))


def facts_at(table: Table, asked: TableAt) -> TableFacts | None:
    """Returns the table at a version; None if there is no such version, or its reading is uncertain."""
    read = read_at(table, asked.version)
    return None if read is None else _facts(asked.name, table, read)


def _facts(name: TableName, table: Table, read: ReadAt) -> TableFacts:
    snapshot, schema = read.snapshot, read.schema
    return TableFacts(
        name=name,
        table_uuid=table.metadata.table_uuid,
        format_version=table.metadata.format_version,
        location=table.location(),
        schema_id=schema.schema_id,
        spec_id=table.spec().spec_id,
        snapshot_id=snapshot.snapshot_id if snapshot else None,
        columns=_columns(Identity(schema)),
        partition_fields=_partition_fields(table, schema),
        sort_fields=_sort_fields(table, schema),
        snapshots=_snapshots(table),
        record_count=_total("total-records", snapshot),
        data_file_count=_total("total-data-files", snapshot),
        total_bytes=_total("total-files-size", snapshot),
        snapshot_schema_id=snapshot.schema_id if snapshot else None,
        past_partition_fields=_past_partition_fields(table, schema),
        bloom_filter_columns=_bloom_filter_columns(table, schema),
        has_imported_files=has_imported_files(table),
        widened_columns=tuple(_widened_columns(table, schema)),
        deleted_record_count=deleted_record_count(table.metadata.snapshots, snapshot),
        metadata_location=table.metadata_location or "",
        comment=table.properties.get("comment"),
        references=_references(table),
        merge_on_read=_merge_on_read(table),
        has_one_spec=len(table.specs()) == 1,
        identifier_fields=_identifier_fields(Identity(schema)),
    )


def has_imported_files(table: Table) -> bool:
    """Whether the table may have files added from other systems, which have no column ids."""
    return TableProperties.DEFAULT_NAME_MAPPING in table.properties


def _merge_on_read(table: Table) -> tuple[str, ...]:
    modes = {kind: table.properties.get(f"write.{kind.lower()}.mode", "") for kind in _CHANGES}
    return tuple(kind for kind, mode in modes.items() if mode.lower() == "merge-on-read")


@lru_cache(_MAX_CACHED_SCHEMAS)
def _columns(schema: Identity[Schema]) -> tuple[TableColumn, ...]:
    # A commit changes a table, but not its schema.
    return tuple(
        TableColumn(field.field_id, field.name, str(field.field_type), field.required, field.doc)
        for field in schema.value.fields
    )


@lru_cache(_MAX_CACHED_SCHEMAS)
def _identifier_fields(schema: Identity[Schema]) -> tuple[str, ...]:
    ids = set(schema.value.identifier_field_ids)
    columns = [field for field in schema.value.fields if field.field_id in ids]
    nested = sorted(ids.difference(field.field_id for field in columns))
    names = (schema.value.find_column_name(field_id) for field_id in nested)
    return (*(field.name for field in columns), *(name for name in names if name))


def _partition_fields(table: Table, schema: Schema) -> tuple[PartitionField, ...]:
    return tuple(_partition_field(table, schema, field) for field in table.spec().fields)


def _past_partition_fields(table: Table, schema: Schema) -> tuple[PartitionField, ...]:
    known = {(field.source_id, str(field.transform)) for field in table.spec().fields}
    fields: list[PartitionField] = []
    for spec in sorted(table.specs().values(), key=lambda spec: spec.spec_id, reverse=True):
        for field in spec.fields:
            layout = (field.source_id, str(field.transform))
            # A column that is gone cannot be queried; `void` is how version 1 keeps a removed field.
            if layout in known or layout[1] == "void" or not schema.find_column_name(field.source_id):
                continue
            known.add(layout)
            fields.append(_partition_field(table, schema, field))
    return tuple(fields)


def _partition_field(table: Table, schema: Schema, field: IcebergPartitionField) -> PartitionField:
    return PartitionField(field.name, _source(table, schema, field.source_id), str(field.transform))


def _bloom_filter_columns(table: Table, schema: Schema) -> tuple[str, ...]:
    names = {
        key.removeprefix(_BLOOM_FILTER_PREFIX)
        for key, value in table.properties.items()
        if key.startswith(_BLOOM_FILTER_PREFIX) and value.lower() == "true"
    }
    return tuple(field.name for field in schema.fields if field.name in names)


def _widened_columns(table: Table, schema: Schema) -> Iterator[str]:
    # Few columns are decimals, and tables that grow have many schemas.
    for field in (field for field in schema.fields if isinstance(field.field_type, DecimalType)):
        known = (other for other in table.metadata.schemas if other.find_column_name(field.field_id))
        others = {other.find_type(field.field_id) for other in known} - {field.field_type}
        if any(map(_is_in_bytes, others)):
            yield field.name


def _is_in_bytes(type_: IcebergType) -> bool:
    return isinstance(type_, DecimalType) and type_.precision > _DIGITS_OF_INT64


def _sort_fields(table: Table, schema: Schema) -> tuple[SortField, ...]:
    return tuple(
        SortField(
            _source(table, schema, field.source_id),
            str(field.transform),
            field.direction.value,
            field.null_order.value,
        )
        for field in table.sort_order().fields
    )


def _source(table: Table, schema: Schema, field_id: int) -> str:
    # A dropped column may still be the source of a field; then an earlier schema has its name.
    schemas = [schema, table.schema(), *reversed(table.metadata.schemas)]
    return next(
        (name for candidate in schemas if (name := candidate.find_column_name(field_id))), f"#{field_id}"
    )


def _snapshots(table: Table) -> tuple[Snapshot, ...]:
    newest_first = sorted(
        table.snapshots(),
        key=lambda snapshot: (snapshot.sequence_number or 0, snapshot.timestamp_ms),
        reverse=True,
    )
    return tuple(_snapshot(snapshot) for snapshot in newest_first[:_SNAPSHOTS_AT_MOST])


def _snapshot(snapshot: IcebergSnapshot) -> Snapshot:
    return Snapshot(
        snapshot.snapshot_id,
        snapshot.parent_snapshot_id,
        datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC),
        snapshot.summary.operation.value if snapshot.summary else None,
    )


def _references(table: Table) -> tuple[TableReference, ...]:
    by_name = sorted(table.metadata.refs.items())[:_REFERENCES_AT_MOST]
    return tuple(
        TableReference(name, ReferenceKind(found.snapshot_ref_type.value.upper()), found.snapshot_id)
        for name, found in by_name
    )


def _total(key: str, snapshot: IcebergSnapshot | None) -> int:
    if snapshot is None or snapshot.summary is None:
        return 0
    return int(snapshot.summary[key] or 0)
