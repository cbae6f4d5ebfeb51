"""A table for tests: an id, a day, and a payload with structs, a list and a map."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.schemas import Field, ListOf, MapOf, Primitive, Struct, TableSchema
from service.model.tables.tables import PartitionField, SortField, TableName

LONG, STRING, DATE = Primitive("long"), Primitive("string"), Primitive("date")
CITY, STREET = Field(31, "city", STRING), Field(32, "street", STRING, is_required=True)
PLACE = Field(3, "place", Struct((CITY, STREET)))
TAGS = Field(4, "tags", ListOf(Field(41, "element", Struct((Field(42, "name", STRING),)))))
COUNTS = Field(5, "counts", MapOf(Field(51, "key", STRING, True), Field(52, "value", LONG)))
ID, DAY = Field(1, "id", LONG, is_required=True), Field(2, "day", DATE)
NOTE = Field(6, "note", STRING)
DOTTED = Field(7, "user.name", STRING)
COLUMNS = (ID, DAY, PLACE, TAGS, COUNTS, NOTE, DOTTED)

TABLE = WritableTable(
    key=TableKey(TableName("lake", "logs", "events")),
    table_uuid=UUID(int=1),
    format_version=2,
    schema=TableSchema(0, COLUMNS),
    spec_id=0,
    partition_fields=(PartitionField("day", "day", "identity"),),
    sort_fields=(SortField("note", "identity", "asc", "nulls-first"),),
    state=b"",
)


def with_columns(*columns: Field) -> WritableTable:
    """Returns the table with other columns, neither partitioned nor sorted."""
    return replace(TABLE, schema=TableSchema(0, columns), partition_fields=(), sort_fields=())
