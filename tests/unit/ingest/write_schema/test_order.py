"""Which column orders an upsert's records, and what is wrong with others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.resolve_targets import resolve_target
from service.model.ingest.ingest_request import ColumnNames, InferredColumns, Violation, Write, WriteRule
from service.model.ingest.writing import WritableTable, WriteTarget
from service.model.tables.schemas import Field, Primitive
from tests.unit.ingest.wide_table import DAY, ID, NOTE, PLACE, TABLE, with_columns

AT = Field(9, "at", Primitive("timestamptz"))
FLAT = with_columns(ID, DAY, NOTE, AT, PLACE)
UPSERT = Write(TABLE.key, (), is_upsert=True, equality_fields=("id",), order_by="at")


def target(write: Write, table: WritableTable = FLAT) -> WriteTarget:
    return resolve_target(write, table, {"id", "at"})


def violations(write: Write, table: WritableTable = FLAT) -> list[tuple[str, WriteRule, str | None]]:
    with pytest.raises(WriteSchemaInvalid) as refused:
        target(write, table)
    found = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
    return [(violation.column, violation.rule, violation.fault.pointer) for violation in found]


def test_the_order_is_part_of_the_target() -> None:
    assert target(UPSERT).order_field_id == 9
    assert target(replace(UPSERT, order_by=None)).order_field_id is None
    assert target(replace(UPSERT, write_schema=ColumnNames(("at", "id")))).order_field_id == 9
    assert target(replace(UPSERT, write_schema=InferredColumns.INFER)).order_field_id == 9


@pytest.mark.parametrize(
    "name", ["int", "long", "date", "timestamp", "timestamptz", "string", "decimal(9, 2)", "decimal(9,2)"]
)
def test_values_of_these_types_are_ordered_alike_by_all(name: str) -> None:
    table = with_columns(ID, replace(AT, type=Primitive(name)))
    assert target(UPSERT, table).order_field_id == 9


@pytest.mark.parametrize("name", ["float", "double", "boolean", "binary", "fixed[4]", "uuid"])
def test_those_of_other_types_are_not(name: str) -> None:
    table = with_columns(ID, replace(AT, type=Primitive(name)))
    assert violations(UPSERT, table) == [("at", WriteRule.NOT_AN_ORDER_COLUMN, "/orderBy")]


@pytest.mark.parametrize("name", ["gone", "place.city"])
def test_it_is_a_column_of_the_table(name: str) -> None:
    assert violations(replace(UPSERT, order_by=name)) == [(name, WriteRule.UNKNOWN_COLUMN, "/orderBy")]


@pytest.mark.parametrize("name", ["id", "place"])
def test_neither_a_key_nor_a_struct_orders_the_rows_of_a_key(name: str) -> None:
    assert violations(replace(UPSERT, order_by=name)) == [(name, WriteRule.NOT_AN_ORDER_COLUMN, "/orderBy")]


def test_it_is_written() -> None:
    write = replace(UPSERT, write_schema=ColumnNames(("id", "note")))
    assert violations(write) == [("at", WriteRule.ORDER_COLUMN_SKIPPED, "/orderBy")]


def test_a_table_that_spark_does_not_read_has_no_order() -> None:
    table = with_columns(ID, AT, Field(10, "clock", Primitive("time")))
    assert violations(UPSERT, table) == [("at", WriteRule.NOT_AN_ORDER_COLUMN, "/orderBy")]
    assert target(replace(UPSERT, order_by=None), table).order_field_id is None


@pytest.mark.parametrize("alike", ["AT", "Id"])
def test_names_that_spark_does_not_tell_apart_have_no_order(alike: str) -> None:
    other = Field(10, alike, Primitive("long"))
    table = with_columns(ID, AT, other)
    [(column, rule, pointer)] = violations(UPSERT, table)
    assert (column, rule, pointer) == ("at", WriteRule.NOT_AN_ORDER_COLUMN, "/orderBy")
    assert target(UPSERT, with_columns(ID, AT, NOTE, replace(NOTE, field_id=11, name="Note"))).order_field_id
