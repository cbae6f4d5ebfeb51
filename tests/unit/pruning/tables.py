"""The tables that the rules' fixtures name: facts written by hand, without a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from service.model.tables.tables import (
    PartitionField,
    SortField,
    TableAt,
    TableColumn,
    TableFacts,
    TableName,
    TableSource,
    TableVersion,
    VersionKind,
)


def _facts(
    snapshot_id: int | None,
    table: str,
    columns: Mapping[str, str],
    partitioned: Mapping[str, str] | None = None,
    sorted_by: tuple[str, ...] = (),
    source: TableSource = TableSource.ICEBERG,
    data_file_count: int = 10,
) -> TableFacts:
    return TableFacts(
        name=TableName("lake", "shop", table),
        table_uuid=UUID(int=snapshot_id or 0),
        format_version=2,
        location="",
        schema_id=0,
        spec_id=0,
        snapshot_id=snapshot_id,
        columns=tuple(
            TableColumn(field_id, name, type_name, is_required=False)
            for field_id, (name, type_name) in enumerate(columns.items(), start=1)
        ),
        partition_fields=tuple(
            PartitionField(f"{source}_{transform}", source, transform)
            for source, transform in (partitioned or {}).items()
        ),
        sort_fields=tuple(SortField(column, "identity", "asc", "nulls-first") for column in sorted_by),
        snapshots=(),
        record_count=100,
        data_file_count=data_file_count,
        total_bytes=10_000,
        snapshot_schema_id=0,
        source=source,
        has_one_spec=True,
    )


_NOW: Mapping[TableAt, TableFacts] = {
    TableAt(facts.name): facts
    for facts in (
        _facts(
            1,
            "sales",
            {
                "day_key": "int",
                "item_key": "long",
                "sold_on": "date",
                "sold_at": "timestamptz",
                "note": "string",
                "weight": "double",
            },
            {"day_key": "identity", "item_key": "bucket[8]", "sold_on": "identity", "sold_at": "day"},
        ),
        _facts(
            2, "returns", {"day_key": "int", "item_key": "long", "note": "string"}, sorted_by=("day_key",)
        ),
        _facts(
            3,
            "calendar",
            {
                "day_key": "int",
                "day": "date",
                "year": "int",
                "month": "int",
                "name": "string",
                "weight": "double",
            },
        ),
        _facts(4, "item", {"item_key": "int", "brand": "string", "maker_key": "int"}),
        _facts(5, "maker", {"maker_key": "int", "country": "string"}),
        _facts(
            None,
            "logs",
            {"id": "long", "day_key": "int", "kind": "string", "code": "char(3)"},
            {"day_key": "identity", "kind": "identity", "code": "identity"},
            source=TableSource.FILES,
        ),
        _facts(None, "kinds", {"kind": "string", "year": "int", "day_key": "int"}, source=TableSource.FILES),
        _facts(
            None, "crumbs", {"day_key": "int", "year": "int"}, source=TableSource.FILES, data_file_count=1_001
        ),
        _facts(
            None,
            "remote",
            {"day_key": "int", "year": "int"},
            {"day_key": "identity"},
            source=TableSource.OTHER,
        ),
        _facts(None, "nothing", {"day_key": "int", "year": "int"}, {"day_key": "identity"}),
    )
}

_PAST: Mapping[TableAt, TableFacts] = {
    TableAt(facts.name, TableVersion(VersionKind.SNAPSHOT, facts.snapshot_id or 0)): facts
    for facts in (
        _facts(5, "sales", {"day_key": "long", "old_note": "string"}, {"day_key": "identity"}),
        _facts(6, "calendar", {"day_key": "int", "old_year": "int", "name": "string"}),
    )
}

TABLES: Mapping[TableAt, TableFacts] = {**_NOW, **_PAST}
