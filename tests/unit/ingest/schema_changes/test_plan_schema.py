"""The schema that a table gets for several writes, and what prevents a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.ingest.schema_changes.plan_schema import plan_schema
from service.model.ingest.ingest_request import Write
from service.model.tables.schema_changes import AddField, DifferenceKind, MakeOptional, WidenField
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct, TableSchema
from service.model.tables.table_creation import RequestedSchema
from tests.unit.ingest.wide_table import LONG, STRING, TABLE

INT = Primitive("int")
ID, NOTE = Field(1, "id", INT, is_required=True), Field(2, "note", STRING)
SCHEMA = TableSchema(0, (ID, NOTE))


def write(*columns: Field, evolves: bool = True, drops_required: bool = False, place: str = "") -> Write:
    asked = RequestedSchema(TableSchema(0, columns), evolves, drops_required=drops_required)
    return Write(TABLE.key, (), place=place, schema=asked)


def kinds(writes: Sequence[Write], schema: TableSchema = SCHEMA, *names: str) -> list[tuple[str, str]]:
    return [
        (difference.column, difference.kind.value)
        for difference in plan_schema(writes, schema, names).differences
    ]


def test_writes_are_matched_one_after_the_other() -> None:
    first = write(ID, Field(7, "n", INT))
    second = write(ID, Field(9, "n", LONG), Field(10, "s", Struct((Field(11, "a", INT),))))
    third = write(ID, Field(9, "s", Struct((Field(11, "b", INT),))))
    plan = plan_schema([first, second, third], SCHEMA)
    assert plan.changes == (
        AddField((), Field(0, "n", LONG)),
        AddField((), Field(0, "s", Struct((Field(0, "a", INT), Field(0, "b", INT))))),
    )
    assert (plan.differences, plan.field_count) == ((), 6)


def test_what_an_earlier_write_has_changed_a_later_one_need_not_ask_for() -> None:
    later = write(ID, Field(9, "n", INT), evolves=False, place="/writes/1")
    assert not plan_schema([write(ID, Field(7, "n", LONG)), later], SCHEMA).differences
    [difference] = plan_schema([later, write(ID, Field(7, "n", LONG))], SCHEMA).differences
    assert (difference.column, difference.kind) == ("n", DifferenceKind.FIELD_MISSING)
    assert difference.place == "/writes/1"


def test_nothing_is_planned_for_writes_that_send_no_schema() -> None:
    plan = plan_schema([Write(TABLE.key, ())], SCHEMA)
    assert (plan.changes, plan.differences) == ((), ())


def test_without_evolve_all_that_would_have_to_change_is_reported() -> None:
    sent = write(Field(1, "id", LONG), Field(2, "new", STRING), evolves=False)
    assert [difference.detail for difference in plan_schema([sent], SCHEMA).differences] == [
        'id is required in the table: it would become optional with "evolve": true and "dropRequired": true.',
        'id is int in the table: it would become long with "evolve": true.',
        'The table has no field new: it would be added with "evolve": true.',
    ]


def test_what_would_be_refused_anyway_is_not_promised() -> None:
    deep = Struct((Field(4, "b", INT), Field(5, "B", INT)))
    sent = write(ID, Field(3, "NOTE", STRING), Field(6, "s", deep), Field(7, "ok", INT), evolves=False)
    assert kinds([sent]) == [("NOTE", "NAME_TAKEN"), ("s.B", "NAME_TAKEN"), ("ok", "FIELD_MISSING")]


def test_all_changes_of_one_write_or_none() -> None:
    plan = plan_schema([write(ID, Field(9, "note", INT), Field(10, "new", INT))], SCHEMA)
    assert [difference.column for difference in plan.differences] == ["note"]
    assert plan.changes == ()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([Field(3, "NOTE", STRING)], [("NOTE", "NAME_TAKEN")]),
        ([Field(3, "a", STRING), Field(4, "A", STRING)], [("A", "NAME_TAKEN")]),
        ([Field(3, "id_bucket", STRING)], [("id_bucket", "NAME_TAKEN")]),
        ([Field(3, "s", Struct((Field(4, "b", INT), Field(5, "B", INT))))], [("s.B", "NAME_TAKEN")]),
        ([Field(3, "a.b", STRING), Field(4, "a_x2Eb", STRING)], [("a_x2Eb", "NAME_TAKEN")]),
        ([Field(3, "1st", STRING), Field(4, "_1st", STRING)], [("_1st", "NAME_TAKEN")]),
        (
            [Field(3, "s", Struct((Field(4, "a-b", INT), Field(5, "a_x2Db", INT))))],
            [("s.a_x2Db", "NAME_TAKEN")],
        ),
        ([Field(3, "s", Struct((Field(4, "a-b", INT),))), Field(5, "a_x2Db", INT)], []),
        ([Field(3, "at", Primitive("timestamp_ns"))], [("at", "FORMAT_TOO_OLD")]),
        (
            [Field(3, "l", ListOf(Field(4, "element", Primitive("timestamptz_ns"))))],
            [("l.element", "FORMAT_TOO_OLD")],
        ),
        ([Field(3, "d", INT, initial_default=1, write_default=1)], [("d", "FORMAT_TOO_OLD")]),
        ([Field(3, "t", Primitive("time"))], [("t", "NOT_READABLE")]),
        (
            [Field(3, "m", MapOf(Field(4, "key", STRING), Field(5, "value", Primitive("time"))))],
            [("m.value", "NOT_READABLE")],
        ),
    ],
)
def test_fields_that_readers_could_not_read_are_not_added(
    columns: list[Field], expected: list[tuple[str, str]]
) -> None:
    assert kinds([write(ID, *columns)], SCHEMA, "id_bucket") == expected


@pytest.mark.parametrize(("known", "new"), [("a.b", "a_x2Eb"), ("a_x2Eb", "a.b"), ("a_x2eb", "A.b")])
def test_a_field_is_not_added_that_files_would_call_like_one_of_the_table(known: str, new: str) -> None:
    schema = TableSchema(0, (Field(1, known, STRING),))
    assert kinds([write(*schema.columns, Field(2, new, STRING))], schema) == [(new, "NAME_TAKEN")]


def test_a_name_with_dots_is_not_taken_for_a_field_of_a_struct() -> None:
    schema = TableSchema(0, (Field(1, "place", Struct((Field(2, "city", STRING),))),))
    sent = write(*schema.columns, Field(3, "place.city", STRING))
    assert kinds([sent], schema) == [("place.city", "NAME_TAKEN")]


def test_what_tells_rows_apart_stays_required_and_may_be_widened() -> None:
    schema = replace(SCHEMA, identifier_field_ids=frozenset({1}))
    assert kinds([write(NOTE, drops_required=True)], schema) == [("id", "IDENTIFIER_FIELD")]
    assert kinds([write(NOTE)], schema) == []
    widened = plan_schema([write(Field(1, "id", LONG, is_required=True), NOTE)], schema)
    assert (widened.changes, widened.differences) == ((WidenField(("id",), "int", "long"),), ())
    key = Field(2, "key", INT, is_required=True)
    nested = TableSchema(0, (Field(1, "s", Struct((key,)), is_required=True),), frozenset({2}))
    assert kinds([write(Field(1, "s", Struct((key,))), drops_required=True)], nested) == [
        ("s", "IDENTIFIER_FIELD")
    ]


def test_a_required_column_that_is_not_sent_becomes_optional_where_the_request_says_so() -> None:
    assert plan_schema([write(NOTE, drops_required=True)], SCHEMA).changes == (MakeOptional(("id",)),)
    assert plan_schema([write(NOTE)], SCHEMA).changes == ()


def _columns() -> some.SearchStrategy[tuple[Field, ...]]:
    """Generates required and optional columns, also in structs, lists and maps."""
    named = partial(some.builds, Field, some.just(0), some.just("element"))
    kinds_of = some.recursive(
        some.sampled_from([INT, STRING]),
        lambda inner: some.one_of(
            _structs(inner),
            named(inner, some.booleans()).map(ListOf),
            named(inner, some.booleans()).map(lambda value: MapOf(Field(0, "key", STRING, True), value)),
        ),
        max_leaves=5,
    )
    return _structs(kinds_of).map(lambda struct: struct.fields)


def _structs(inner: some.SearchStrategy[FieldType]) -> some.SearchStrategy[Struct]:
    one = some.tuples(some.sampled_from("abcd"), inner, some.booleans())
    return some.lists(one, min_size=1, max_size=3, unique_by=lambda drawn: drawn[0]).map(
        lambda found: Struct(tuple(Field(0, *drawn) for drawn in found))
    )


@given(table=_columns(), sent=_columns())
def test_whatever_is_sent_what_is_required_stays_so_unless_the_request_says_otherwise(
    table: tuple[Field, ...], sent: tuple[Field, ...]
) -> None:
    unchanged = plan_schema([write(*sent)], TableSchema(0, table))
    assert not [change for change in unchanged.changes if isinstance(change, MakeOptional)]
    dropped = plan_schema([write(*sent, drops_required=True)], TableSchema(0, table))
    if not unchanged.differences and not dropped.differences:
        assert set(unchanged.changes) <= set(dropped.changes)
        others = set(dropped.changes) - set(unchanged.changes)
        assert all(isinstance(other, MakeOptional) for other in others)
