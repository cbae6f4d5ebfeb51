"""Resolves the column that orders an upsert's records, or reports everything that is wrong with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set

from service.errors.ingest_errors import WriteSchemaInvalid
from service.model.ingest.ingest_request import Violation, Write, WriteRule
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import Field, Primitive, fields_with_paths

ORDERED_TYPES = ("int", "long", "date", "timestamp", "timestamptz", "string", "decimal")
"""Types whose values every engine orders alike. NaN has no place among other numbers."""
_NOT_IN_SPARK = "time"


def resolve_order(
    write: Write,
    table: WritableTable,
    equality_field_ids: tuple[int, ...],
    written: tuple[int, ...] | None,
) -> tuple[int | None, WriteSchemaInvalid | None]:
    """Returns the id of the column, None for writes without an order, and what is wrong with it.

    `written` are the columns of the write schema; None: all of the table's.
    """
    if write.order_by is None:
        return None, None
    field = next((field for field in table.schema.columns if field.name == write.order_by), None)
    found = list(_violations(write.order_by, field, table, equality_field_ids, written))
    if found:
        detail = f"The order does not fit {write.key.table}: {found[0].detail}"
        return None, WriteSchemaInvalid(detail, found)
    assert field is not None
    return field.field_id, None


def _violations(
    name: str,
    field: Field | None,
    table: WritableTable,
    equality_field_ids: tuple[int, ...],
    written: tuple[int, ...] | None,
) -> Iterator[Violation]:
    if field is None:
        detail = f"{name} is not a column of the table. The order is a column, and not inside a struct."
        yield Violation(name, WriteRule.UNKNOWN_COLUMN, detail, is_of_order=True)
        return
    if field.field_id in equality_field_ids:
        detail = f"{name} identifies the row, so all rows of a key have the same {name}: name another column."
        yield Violation(name, WriteRule.NOT_AN_ORDER_COLUMN, detail, is_of_order=True)
    if not isinstance(field.type, Primitive) or _kind(field.type) not in ORDERED_TYPES:
        detail = f"{name} has no type that orders records. Those are {', '.join(ORDERED_TYPES)}."
        yield Violation(name, WriteRule.NOT_AN_ORDER_COLUMN, detail, is_of_order=True)
    if written is not None and field.field_id not in written:
        detail = f"{name} orders the records: add it to the write schema."
        yield Violation(name, WriteRule.ORDER_COLUMN_SKIPPED, detail, is_of_order=True)
    alike = _alike(table, {field.field_id, *equality_field_ids})
    if alike is not None:
        detail = (
            f"The rows of the table cannot be compared: Spark does not tell {alike} from another column, as "
            "it ignores the case of names."
        )
        yield Violation(name, WriteRule.NOT_AN_ORDER_COLUMN, detail, is_of_order=True)
    unread = next(
        (".".join(path) for path, other in _primitives(table) if _kind(other) == _NOT_IN_SPARK), None
    )
    if unread is not None:
        detail = f"The rows of the table cannot be compared: Spark does not read {unread}, which is a time."
        yield Violation(name, WriteRule.NOT_AN_ORDER_COLUMN, detail, is_of_order=True)


def _alike(table: WritableTable, wanted: Set[int]) -> str | None:
    """Returns the first wanted column that shares its name with another one, but for the case."""
    names = Counter(column.name.lower() for column in table.schema.columns)
    columns = (column for column in table.schema.columns if column.field_id in wanted)
    return next((column.name for column in columns if names[column.name.lower()] > 1), None)


def _primitives(table: WritableTable) -> Iterator[tuple[tuple[str, ...], Primitive]]:
    for path, field in fields_with_paths(table.schema.columns):
        if isinstance(field.type, Primitive):
            yield path, field.type


def _kind(kind: Primitive) -> str:
    """Returns the name of a type without its parameters.

    >>> _kind(Primitive("decimal(9, 2)"))
    'decimal'
    """
    return re.split(r"\W", kind.name, maxsplit=1)[0]
