from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.cached_write_schemas import cached_write_schema, cached_written_fields
from service.ingest.write_schema.resolve_write_schema import resolve_write_schema
from service.ingest.write_schema.written_fields import written_fields
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    RequestedWriteSchema,
)
from service.model.ingest.writing import TableKey
from service.model.tables.schemas import Field, Primitive
from service.model.tables.tables import PartitionField, TableName
from tests.unit.ingest.wide_table import TABLE

NOTES = ColumnNames(("id", "day", "note"))


@pytest.mark.parametrize(
    "requested",
    [
        None,
        NOTES,
        InferredColumns.INFER,
        ColumnFields((*TABLE.schema.columns[:2],)),
        # This cannot be a cache key, as a list is not hashable.
        ColumnFields((*TABLE.schema.columns[:2], replace(TABLE.schema.columns[2], initial_default=[1]))),
    ],
)
def test_what_is_cached_is_what_would_be_resolved(requested: RequestedWriteSchema) -> None:
    for present in ({"id", "day"}, {"id", "day", "note"}):
        expected = resolve_write_schema(requested, TABLE, present)
        for _ in range(2):
            assert cached_write_schema(requested, TABLE, present, ()) == expected


def test_what_is_refused_is_refused_each_time_with_the_name_of_its_table() -> None:
    others = replace(TABLE, key=TableKey(TableName("lake", "logs", "others")))
    for table in (TABLE, others, TABLE):
        with pytest.raises(WriteSchemaInvalid, match=str(table.key.table)):
            cached_write_schema(ColumnNames(("id",)), table, frozenset(), ())


def test_a_table_that_was_changed_is_resolved_again() -> None:
    assert cached_write_schema(NOTES, TABLE, frozenset(), ()) is not None
    column = Field(99, "must", Primitive("long"), is_required=True)
    changed = replace(TABLE, schema=replace(TABLE.schema, columns=(*TABLE.schema.columns, column)))
    with pytest.raises(WriteSchemaInvalid, match="must"):
        cached_write_schema(NOTES, changed, frozenset(), ())
    divided = replace(TABLE, partition_fields=(PartitionField("place", "place", "identity"),))
    with pytest.raises(WriteSchemaInvalid, match="place"):
        cached_write_schema(NOTES, divided, frozenset(), ())


def test_fields_are_those_of_this_very_schema() -> None:
    shorter = replace(TABLE.schema, columns=TABLE.schema.columns[:2])
    for schema in (TABLE.schema, shorter, TABLE.schema):
        for column_ids in (None, (2, 1)):
            assert cached_written_fields(schema, column_ids) == written_fields(schema, column_ids)
