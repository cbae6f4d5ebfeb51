"""Plans the changes to a table's schema for the writes of one request."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from service.ingest.schema_changes.change_schema import change_schema
from service.ingest.schema_changes.compare_schemas import compare_schemas
from service.ingest.schema_changes.refused_changes import refused_changes
from service.model.ingest.ingest_request import Write
from service.model.tables.schema_changes import (
    AddField,
    DifferenceKind,
    MakeOptional,
    SchemaChange,
    SchemaDifference,
    WidenField,
)
from service.model.tables.schemas import TableSchema, fields_with_paths
from service.model.tables.table_creation import RequestedSchema


@dataclass(frozen=True, slots=True)
class SchemaPlan:
    """All changes together, or every difference that prevents them.

    `field_count` is the number of fields of the table after the changes.
    """

    changes: tuple[SchemaChange, ...]
    differences: tuple[SchemaDifference, ...]
    field_count: int


def plan_schema(
    writes: Iterable[Write], schema: TableSchema, partition_names: Collection[str] = ()
) -> SchemaPlan:
    """Matches the writes' schemas one by one, each with the changes of those before it applied."""
    columns = schema.columns
    differences: list[SchemaDifference] = []
    for write in writes:
        if write.schema is None or write.schema.schema is None:
            continue
        now = replace(schema, columns=columns)
        changes, found = _asked(write.schema, write.schema.schema, now, partition_names)
        differences += [replace(difference, place=write.place) for difference in found]
        columns = change_schema(columns, changes)
    if columns is schema.columns:
        return SchemaPlan((), tuple(differences), 0)
    changes = compare_schemas(columns, schema.columns).changes
    return SchemaPlan(changes, tuple(differences), sum(1 for _ in fields_with_paths(columns)))


def _asked(
    asked: RequestedSchema, sent: TableSchema, now: TableSchema, partition_names: Collection[str]
) -> tuple[tuple[SchemaChange, ...], tuple[SchemaDifference, ...]]:
    comparison = compare_schemas(sent.columns, now.columns)
    changes = comparison.changes
    if asked.evolves and not asked.drops_required:
        # Such a schema only adds: fields that it lacks, or does not require, stay as they are.
        changes = tuple(change for change in changes if not isinstance(change, MakeOptional))
    refused = tuple(refused_changes(changes, now, partition_names))
    unasked = () if asked.evolves else _unasked(changes, refused)
    differences = comparison.differences + refused + unasked
    return (() if differences else changes), differences


def _unasked(
    changes: tuple[SchemaChange, ...], refused: tuple[SchemaDifference, ...]
) -> tuple[SchemaDifference, ...]:
    # A change that would be refused anyway is reported once, without advice to request it.
    known = {difference.column for difference in refused}
    reported = [_as_difference(change) for change in changes]
    return tuple(
        difference
        for difference in reported
        if not any(f"{name}.".startswith(f"{difference.column}.") for name in known)
    )


def _as_difference(change: SchemaChange) -> SchemaDifference:
    name = ".".join(change.path)
    match change:
        case AddField():
            detail = f'The table has no field {name}: it would be added with "evolve": true.'
            return SchemaDifference(name, DifferenceKind.FIELD_MISSING, detail)
        case WidenField(_, before, after):
            detail = f'{name} is {before} in the table: it would become {after} with "evolve": true.'
            return SchemaDifference(name, DifferenceKind.TYPE_NARROWER, detail)
        case MakeOptional():
            detail = (
                f"{name} is required in the table: it would become optional "
                'with "evolve": true and "dropRequired": true.'
            )
            return SchemaDifference(name, DifferenceKind.FIELD_REQUIRED, detail)
