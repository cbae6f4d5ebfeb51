"""Types as they were sent, where the table's types hold the same values in another form."""

from __future__ import annotations

from dataclasses import replace

from service.model.tables.schemas import Field, Primitive, with_children
from service.model.tables.table_creation import RequestedSchema

MIDNIGHTS = "date (as timestamp)"
"""Dates that are read as their first moments; only readers know this type.

Source: `DataConverter` of Iceberg's dynamic sink.
"""


def fields_as_sent(fields: tuple[Field, ...], requested: RequestedSchema | None) -> tuple[Field, ...]:
    """Returns the table's fields as their values are read, by the sent schema that matches the table.

    For all other types that differ, the table's own type can read the sent values.

    >>> from service.model.tables.schemas import TableSchema
    >>> at = Field(1, "at", Primitive("timestamp"))
    >>> sent = RequestedSchema(TableSchema(0, (Field(9, "at", Primitive("date")),)))
    >>> fields_as_sent((at,), sent)[0].type
    Primitive(name='date (as timestamp)')
    """
    if requested is None or requested.schema is None:
        return fields
    return _all_as_sent(fields, requested.schema.columns)


def _all_as_sent(fields: tuple[Field, ...], sent: tuple[Field, ...]) -> tuple[Field, ...]:
    partners = {field.name: field for field in sent}
    return tuple(_as_sent(field, partners.get(field.name)) for field in fields)


def _as_sent(field: Field, sent: Field | None) -> Field:
    if sent is None:
        return field
    if (sent.type, field.type) == (Primitive("date"), Primitive("timestamp")):
        return replace(field, type=Primitive(MIDNIGHTS))
    if not field.children:
        return field
    return replace(field, type=with_children(field.type, _all_as_sent(field.children, sent.children)))
