from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.given_columns import given_columns
from service.ingest.write_schema.resolve_write_schema import resolve_write_schema
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    Violation,
    WriteRule,
)
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import Field, ListOf, MapOf, Primitive, Struct
from service.model.tables.tables import PartitionField, SortField
from tests.unit.ingest.wide_table import (
    CITY,
    COLUMNS,
    DAY,
    DOTTED,
    ID,
    LONG,
    NOTE,
    PLACE,
    STREET,
    STRING,
    TABLE,
    with_columns,
)


def ids(*names: str, table: WritableTable = TABLE) -> tuple[int, ...]:
    resolved = resolve_write_schema(ColumnNames(names), table)
    assert resolved is not None
    return resolved.column_ids


def broken(*names: str, table: WritableTable = TABLE, **asked: object) -> list[tuple[str, str]]:
    with pytest.raises(WriteSchemaInvalid) as raised:
        resolve_write_schema(ColumnNames(names), table, **asked)  # type: ignore[arg-type]
    violations = [violation for violation in raised.value.violations if isinstance(violation, Violation)]
    assert all(violation.detail.endswith((".", "?")) for violation in violations)
    return [(violation.column, violation.rule.value) for violation in violations]


def test_without_a_write_schema_the_whole_table_is_written() -> None:
    assert resolve_write_schema(None, TABLE) is None


def test_the_order_of_the_names_is_the_order_of_the_columns() -> None:
    assert ids("id", "day", "note") == (1, 2, 6)
    assert ids("note", "day", "id") == (6, 2, 1)


def test_a_field_inside_a_struct_is_named_with_a_dot() -> None:
    assert ids("id", "day", "place.street", "place.city") == (1, 2, 32, 31)


def test_a_column_with_a_dot_in_its_name_is_found_by_it() -> None:
    assert ids("id", "day", "user.name") == (1, 2, 7)


def test_a_name_that_the_table_does_not_have_is_reported_with_those_that_look_like_it() -> None:
    with pytest.raises(WriteSchemaInvalid, match=r"no column dya. Did you mean day\?"):
        ids("id", "day", "dya")


@pytest.mark.parametrize("again", ["note", "place.city"])
def test_a_column_stands_there_once(again: str) -> None:
    assert broken("id", "day", "note", "place", again) == [(again, "REPEATED_COLUMN")]


def test_a_struct_does_not_follow_its_own_fields() -> None:
    assert broken("id", "day", "place.city", "place") == [
        ("place", "REPEATED_COLUMN"),
        ("place.street", "REQUIRED_SKIPPED"),
    ]


@pytest.mark.parametrize("name", ["tags.element.name", "counts.value"])
def test_lists_and_maps_are_written_whole(name: str) -> None:
    assert broken("id", "day", name) == [(name, "NOT_A_STRUCT")]


def test_a_required_column_is_not_skipped() -> None:
    assert broken("day") == [("id", "REQUIRED_SKIPPED")]


def test_a_required_field_of_a_struct_is_not_skipped_when_the_struct_is_written() -> None:
    assert broken("id", "day", "place.city") == [("place.street", "REQUIRED_SKIPPED")]
    assert ids("id", "day", "place.street") == (1, 2, 32)
    assert ids("id", "day") == (1, 2)


def test_a_required_column_with_an_initial_default_may_be_skipped() -> None:
    level = Field(8, "level", LONG, is_required=True, initial_default=1, write_default=1)
    assert ids("id", table=with_columns(ID, level)) == (1,)


def test_a_column_whose_defaults_differ_is_written() -> None:
    level = Field(8, "level", LONG, initial_default=1, write_default=2)
    assert broken("id", table=with_columns(ID, level)) == [("level", "DEFAULT_DIFFERS")]
    assert ids("id", "level", table=with_columns(ID, level)) == (1, 8)


def test_what_the_table_is_partitioned_by_is_written() -> None:
    assert broken("id", "note") == [("day", "PARTITION_SOURCE_SKIPPED")]


def test_a_partition_may_come_from_inside_a_struct() -> None:
    table = replace(TABLE, partition_fields=(PartitionField("city", "place.city", "bucket[4]"),))
    assert broken("id", "place.street", table=table) == [("place.city", "PARTITION_SOURCE_SKIPPED")]
    assert ids("id", "place", table=table) == (1, 3)


def test_names_with_dots_are_not_taken_for_fields_of_other_columns() -> None:
    part, user = Field(8, "day.part", STRING), Field(9, "user", STRING)
    by_day = replace(with_columns(ID, DAY, part), partition_fields=TABLE.partition_fields)
    assert ids("id", "day", table=by_day) == (1, 2)
    by_name = (PartitionField("name", "user.name", "identity"),)
    by_user = replace(with_columns(ID, user, DOTTED), partition_fields=by_name)
    assert ids("id", "user.name", table=by_user) == (1, 7)
    assert broken("id", "user", table=by_user) == [("user.name", "PARTITION_SOURCE_SKIPPED")]
    inferred = resolve_write_schema(InferredColumns.INFER, by_user, frozenset({"id"}))
    assert inferred is not None
    assert inferred.column_ids == (1, 7)


def test_a_partition_field_that_was_removed_needs_no_column() -> None:
    table = replace(TABLE, partition_fields=(PartitionField("day", "day", "void"),))
    assert ids("id", table=table) == (1,)


def test_a_column_that_the_table_is_sorted_by_may_be_skipped() -> None:
    assert TABLE.sort_fields[0].source == "note"
    assert ids("id", "day") == (1, 2)


def test_equality_fields_are_written_and_hold_what_the_table_is_partitioned_by() -> None:
    assert broken("id", "day", equality_field_ids=(1, 6)) == [
        ("note", "EQUALITY_FIELD_SKIPPED"),
        ("day", "PARTITION_SOURCE_NOT_EQUALITY_FIELD"),
    ]


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    assert broken("nope", "note", "note") == [
        ("nope", "UNKNOWN_COLUMN"),
        ("note", "REPEATED_COLUMN"),
        ("id", "REQUIRED_SKIPPED"),
        ("day", "PARTITION_SOURCE_SKIPPED"),
    ]


def test_a_write_schema_has_columns() -> None:
    assert broken(table=with_columns(NOTE)) == [("", "NOTHING_WRITTEN")]


def given(*columns: Field) -> tuple[int, ...]:
    resolved = resolve_write_schema(ColumnFields(columns), TABLE)
    assert resolved is not None
    return resolved.column_ids


def test_fields_with_ids_are_taken_in_their_order() -> None:
    assert given(NOTE, ID, DAY) == (6, 1, 2)
    assert given(*COLUMNS) == tuple(column.field_id for column in COLUMNS)


def test_a_struct_that_is_given_in_part_is_written_in_part() -> None:
    assert given(ID, DAY, replace(PLACE, type=Struct((STREET,)))) == (1, 2, 32)
    assert given(ID, DAY, replace(PLACE, type=Struct((STREET, CITY)))) == (1, 2, 32, 31)


def test_what_a_field_is_described_as_does_not_matter_wherever_it_lies() -> None:
    inner = Field(53, "x", LONG, is_required=True, doc="as it is known")
    element, value = Field(51, "element", Struct((inner,)), doc="one"), Field(52, "value", STRING, doc="v")
    tags = Field(50, "tags", ListOf(element), doc="tags of it")
    facts = Field(54, "facts", MapOf(Field(55, "key", STRING, True), value))
    bare = Field(53, "x", LONG, initial_default=1)
    sent = (
        replace(tags, doc=None, type=ListOf(replace(element, doc=None, type=Struct((bare,))))),
        replace(facts, doc="f", type=MapOf(Field(55, "key", STRING), replace(value, doc=None))),
    )
    assert given_columns(sent, (tags, facts)) == ((50, 54), ())
    other = replace(tags, type=ListOf(replace(element, type=Struct((replace(inner, type=STRING),)))))
    _, [violation] = given_columns((other,), (tags, facts))
    assert violation.rule is WriteRule.TYPE_DIFFERS


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        (Field(99, "note", STRING), WriteRule.UNKNOWN_COLUMN),
        (Field(6, "remark", STRING), WriteRule.UNKNOWN_COLUMN),
        (Field(6, "note", LONG), WriteRule.TYPE_DIFFERS),
        (replace(PLACE, type=Struct((STREET, Field(31, "city", LONG)))), WriteRule.TYPE_DIFFERS),
        (replace(PLACE, type=Primitive("string")), WriteRule.TYPE_DIFFERS),
        (ID, WriteRule.REPEATED_COLUMN),
    ],
)
def test_a_field_that_is_not_the_tables_is_refused(field: Field, rule: WriteRule) -> None:
    with pytest.raises(WriteSchemaInvalid) as raised:
        given(ID, DAY, field)
    assert [violation.rule for violation in raised.value.violations if isinstance(violation, Violation)] == [
        rule
    ]


def test_inferred_columns_are_those_of_the_records_and_of_the_partition_in_the_tables_order() -> None:
    resolved = resolve_write_schema(InferredColumns.INFER, TABLE, {"note", "id", "unheard"})
    assert resolved is not None
    assert resolved.column_ids == (1, 2, 6)


def test_where_no_record_has_a_field_that_is_reported_before_the_columns_that_are_missing() -> None:
    table = with_columns(ID, NOTE)
    with pytest.raises(WriteSchemaInvalid, match="No record has a field to infer a column from"):
        resolve_write_schema(InferredColumns.INFER, table, frozenset())


BY_NOTE = (SortField("note", "identity", "desc", "nulls-last"),)


def test_what_rows_are_to_be_sorted_by_is_written() -> None:
    city = SortField("place.city", "truncate[2]", "asc", "nulls-first")
    asked = (*BY_NOTE, city)
    assert broken("id", "day", sort_fields=asked) == [
        ("note", "SORT_SOURCE_SKIPPED"),
        ("place.city", "SORT_SOURCE_SKIPPED"),
    ]
    resolved = resolve_write_schema(ColumnNames(("id", "day", "place", "note")), TABLE, sort_fields=asked)
    assert resolved is not None


def test_the_table_s_own_sort_order_may_be_left_out() -> None:
    assert TABLE.sort_fields
    assert ids("id", "day") == (1, 2)


def test_an_inferred_schema_has_what_rows_are_to_be_sorted_by() -> None:
    inferred = resolve_write_schema(InferredColumns.INFER, TABLE, frozenset({"id"}), sort_fields=BY_NOTE)
    assert inferred is not None
    assert inferred.column_ids == (1, 2, 6)
