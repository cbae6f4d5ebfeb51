"""Which column takes the rest of records, and what is wrong with others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.resolve_targets import resolve_target
from service.model.ingest.ingest_request import ColumnNames, InferredColumns, Violation, Write, WriteRule
from service.model.ingest.writing import WritableTable, WriteTarget
from service.model.tables.schemas import Field, Primitive
from service.model.tables.tables import PartitionField
from tests.unit.ingest.wide_table import DAY, ID, NOTE, PLACE, TABLE, with_columns

MORE = Field(9, "more", Primitive("string"))
WIDE = replace(with_columns(ID, DAY, NOTE, MORE, PLACE), partition_fields=(), sort_fields=())
APPEND = Write(TABLE.key, (), rest="more")


def target(write: Write, table: WritableTable = WIDE, *present: str) -> WriteTarget:
    return resolve_target(write, table, frozenset(present or ("id",)))


def violations(write: Write, table: WritableTable = WIDE) -> list[tuple[str, WriteRule, str | None]]:
    with pytest.raises(WriteSchemaInvalid) as refused:
        target(write, table)
    found = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
    return [(violation.column, violation.rule, violation.fault.pointer) for violation in found]


def test_files_are_those_of_a_write_without_a_rest() -> None:
    assert target(APPEND) == target(replace(APPEND, rest=None))


def test_an_inferred_schema_has_the_column_too() -> None:
    write = replace(APPEND, write_schema=InferredColumns.INFER)
    assert target(write).write_schema_column_ids == (ID.field_id, MORE.field_id)
    lenient = replace(with_columns(replace(ID, is_required=False), MORE), partition_fields=(), sort_fields=())
    assert target(write, lenient, "gone").write_schema_column_ids == (MORE.field_id,)


@pytest.mark.parametrize("name", ["gone", "place.city", "More"])
def test_it_is_a_column_of_the_table(name: str) -> None:
    assert violations(replace(APPEND, rest=name)) == [(name, WriteRule.UNKNOWN_COLUMN, "/rest")]


@pytest.mark.parametrize("name", ["id", "place"])
def test_it_is_a_text(name: str) -> None:
    assert violations(replace(APPEND, rest=name)) == [(name, WriteRule.NOT_A_REST_COLUMN, "/rest")]


def test_it_is_written() -> None:
    write = replace(APPEND, write_schema=ColumnNames(("id", "note")))
    assert violations(write) == [("more", WriteRule.REST_COLUMN_SKIPPED, "/rest")]


def test_it_neither_identifies_nor_orders_rows() -> None:
    upsert = replace(APPEND, is_upsert=True, equality_fields=("more",))
    assert violations(upsert) == [("more", WriteRule.NOT_A_REST_COLUMN, "/rest")]
    ordered = replace(APPEND, is_upsert=True, equality_fields=("id",), order_by="more")
    assert violations(ordered) == [("more", WriteRule.NOT_A_REST_COLUMN, "/rest")]


def test_no_table_is_partitioned_by_it() -> None:
    by_rest = replace(WIDE, partition_fields=(PartitionField("part", "more", "truncate[2]"),))
    assert violations(APPEND, by_rest) == [("more", WriteRule.NOT_A_REST_COLUMN, "/rest")]
    no_longer = replace(WIDE, partition_fields=(PartitionField("part", "more", "void"),))
    assert target(APPEND, no_longer).write_schema_column_ids is None
