"""Computes a schema after changes, before they are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from service.ingest.schema_changes.change_schema import change_schema
from service.model.tables.schema_changes import SchemaChange
from service.model.tables.schemas import Field, fields_with_paths, with_children


def planned_columns(columns: tuple[Field, ...], changes: Iterable[SchemaChange]) -> tuple[Field, ...]:
    """Returns the columns as the changes will leave them.

    New fields have provisional ids above all existing ones: the catalog may assign others.

    >>> from service.model.tables.schema_changes import AddField
    >>> from service.model.tables.schemas import Primitive
    >>> changes = [AddField((), Field(0, "at", Primitive("date")))]
    >>> [column.field_id for column in planned_columns((Field(4, "id", Primitive("int")),), changes)]
    [4, 5]
    """
    ids = count(highest_id(columns) + 1)
    return tuple(_with_ids(field, ids) for field in change_schema(columns, changes))


def highest_id(columns: tuple[Field, ...]) -> int:
    """Returns the highest id of all fields, nested ones too; 0 if there are none."""
    return max((field.field_id for _, field in fields_with_paths(columns)), default=0)


def with_planned_ids(
    given: tuple[Field, ...], planned: tuple[Field, ...], known_id: int
) -> tuple[Field, ...]:
    """Returns the given fields, with provisional ids for those that are new in the planned table.

    Callers cannot know the ids of new fields, so these are matched by names. New fields have ids above
    `known_id`.
    """
    partners = {field.name: field for field in planned}
    return tuple(_with_planned_id(field, partners.get(field.name), known_id) for field in given)


def _with_planned_id(field: Field, partner: Field | None, known_id: int) -> Field:
    if partner is None:
        return field
    new_id = partner.field_id if partner.field_id > known_id else field.field_id
    children = with_planned_ids(field.children, partner.children, known_id)
    return replace(field, field_id=new_id, type=with_children(field.type, children))


def _with_ids(field: Field, ids: Iterator[int]) -> Field:
    new_id = field.field_id or next(ids)
    children = [_with_ids(child, ids) for child in field.children]
    return replace(field, field_id=new_id, type=with_children(field.type, children))
