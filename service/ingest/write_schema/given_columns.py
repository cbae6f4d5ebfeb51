"""Matches a write schema that is given as fields with ids with the table's fields."""

from __future__ import annotations

from service.model.ingest.ingest_request import Violation, WriteRule
from service.model.tables.schemas import Field, Struct, with_children


def given_columns(
    given: tuple[Field, ...], columns: tuple[Field, ...]
) -> tuple[tuple[int, ...], tuple[Violation, ...]]:
    """Returns the ids to write, in the order of the given fields, and what disagrees with the table.

    A struct that is given without some of its fields is written in part.

    Source: Iceberg issue 15925, "All field IDs in writeSchema must exist in the resolved table schema".
    """
    return _matched(given, {column.field_id: column for column in columns}, "")


def _matched(
    given: tuple[Field, ...], known: dict[int, Field], prefix: str
) -> tuple[tuple[int, ...], tuple[Violation, ...]]:
    ids: list[int] = []
    violations: list[Violation] = []
    seen: set[int] = set()
    for field in given:
        name = f"{prefix}{field.name}"
        own = known.get(field.field_id)
        if own is None:
            violations.append(_violation(name, WriteRule.UNKNOWN_COLUMN, f"has no field {field.field_id}"))
        elif field.field_id in seen:
            violations.append(Violation(name, WriteRule.REPEATED_COLUMN, f"{name} is given twice."))
        elif own.name != field.name:
            detail = f"calls field {field.field_id} {own.name}"
            violations.append(_violation(name, WriteRule.UNKNOWN_COLUMN, detail))
        else:
            inner_ids, inner = _written(field, own, name)
            ids += inner_ids
            violations += inner
        seen.add(field.field_id)
    return tuple(ids), tuple(violations)


def _written(field: Field, own: Field, name: str) -> tuple[tuple[int, ...], tuple[Violation, ...]]:
    match (field.type, own.type):
        case (Struct(given), Struct(fields)) if {child.field_id for child in given} != {
            child.field_id for child in fields
        }:
            return _matched(given, {child.field_id: child for child in fields}, f"{name}.")
        case (Struct(given), Struct(fields)):
            ids, violations = _matched(given, {child.field_id: child for child in fields}, f"{name}.")
            # A struct counts as whole only if its fields are in the table's order.
            is_whole = ids == tuple(child.field_id for child in fields)
            return ((own.field_id,) if is_whole else ids), violations
        case _ if _ids_and_types(field).type == _ids_and_types(own).type:
            return (own.field_id,), ()
        case _:
            return (), (_violation(name, WriteRule.TYPE_DIFFERS, f"has another type for {name}"),)


def _ids_and_types(field: Field) -> Field:
    """Returns the field without a description, defaults and whether it is required, which do not count."""
    inner = with_children(field.type, map(_ids_and_types, field.children))
    return Field(field.field_id, field.name, inner)


def _violation(column: str, rule: WriteRule, what: str) -> Violation:
    return Violation(column, rule, f"The table {what}.")
