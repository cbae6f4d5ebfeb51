"""Caches resolved write schemas: small ingests use the same few again and again."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from service.ingest.write_schema.resolve_write_schema import resolve_write_schema
from service.ingest.write_schema.written_fields import written_fields
from service.model.identity import Identity
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    RequestedWriteSchema,
)
from service.model.ingest.writing import TableKey, WritableTable, WriteSchema
from service.model.tables.schemas import Field, TableSchema
from service.model.tables.tables import PartitionField, SortField

_MAX_CACHED = 256


def cached_write_schema(
    requested: RequestedWriteSchema,
    table: WritableTable,
    present: Set[str],
    equality_field_ids: tuple[int, ...],
    sort_fields: tuple[SortField, ...] = (),
) -> WriteSchema | None:
    """Returns the result of `resolve_write_schema`, cached for this request and this very schema.

    Raises:
        WriteSchemaInvalid: with every reason at once.
    """
    if isinstance(requested, ColumnFields):
        # Their defaults may be of any type, and not hashable.
        return resolve_write_schema(requested, table, present, equality_field_ids, sort_fields)
    return _resolved(requested, _Layout.of(table), frozenset(present), equality_field_ids, sort_fields)


def cached_written_fields(schema: TableSchema, column_ids: tuple[int, ...] | None) -> tuple[Field, ...]:
    """Returns the result of `written_fields`, cached."""
    return _written(Identity(schema), column_ids)


@dataclass(frozen=True, slots=True)
class _Layout:
    """A table without its writer's state; its schema stays the same object until the table changes."""

    key: TableKey
    table_uuid: UUID
    format_version: int
    schema: Identity[TableSchema]
    spec_id: int
    partition_fields: tuple[PartitionField, ...]
    sort_fields: tuple[SortField, ...]

    @staticmethod
    def of(table: WritableTable) -> _Layout:
        return _Layout(
            table.key,
            table.table_uuid,
            table.format_version,
            Identity(table.schema),
            table.spec_id,
            table.partition_fields,
            table.sort_fields,
        )

    def table(self) -> WritableTable:
        return WritableTable(
            self.key,
            self.table_uuid,
            self.format_version,
            self.schema.value,
            self.spec_id,
            self.partition_fields,
            self.sort_fields,
            b"",
        )


@lru_cache(_MAX_CACHED)
def _resolved(
    requested: ColumnNames | InferredColumns | None,
    layout: _Layout,
    present: frozenset[str],
    equality_field_ids: tuple[int, ...],
    sort_fields: tuple[SortField, ...],
) -> WriteSchema | None:
    return resolve_write_schema(requested, layout.table(), present, equality_field_ids, sort_fields)


@lru_cache(_MAX_CACHED)
def _written(schema: Identity[TableSchema], column_ids: tuple[int, ...] | None) -> tuple[Field, ...]:
    return written_fields(schema.value, column_ids)
