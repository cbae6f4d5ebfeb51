"""Converts table creations and schema changes by ingests to and from JSON in the ingest log."""

from __future__ import annotations

from collections.abc import Iterable

from service.adapters.postgres.shared.storable import storable
from service.model.json_fields import JsonFields
from service.model.tables.schema_changes import ColumnChange, ColumnChangeKind, TableEvolution
from service.model.tables.tables import TableName


def evolution_values(evolutions: Iterable[TableEvolution]) -> list[dict[str, object]]:
    """Returns one object for each table."""
    return [
        {
            "catalog": evolution.table.catalog,
            "schema": evolution.table.schema,
            "table": evolution.table.table,
            "created": evolution.is_created,
            "changes": [_change_value(change) for change in evolution.changes],
        }
        for evolution in evolutions
    ]


def evolutions_of(values: Iterable[object]) -> tuple[TableEvolution, ...]:
    """Returns the evolutions that these objects describe.

    Raises:
        ValueError: they do not describe evolutions.
    """
    return tuple(_evolution(JsonFields(value)) for value in values)


def _change_value(change: ColumnChange) -> dict[str, object]:
    return {
        "column": storable(change.column),
        "kind": change.kind.value,
        "before": change.before and storable(change.before),
        "after": change.after and storable(change.after),
    }


def _evolution(fields: JsonFields) -> TableEvolution:
    name = TableName(fields.text("catalog"), fields.text("schema"), fields.text("table"))
    changes = tuple(_change(change) for change in fields.objects("changes"))
    return TableEvolution(name, fields.boolean("created"), changes)


def _change(fields: JsonFields) -> ColumnChange:
    kind = ColumnChangeKind(fields.text("kind"))
    return ColumnChange(
        fields.text("column"), kind, fields.optional_text("before"), fields.optional_text("after")
    )
