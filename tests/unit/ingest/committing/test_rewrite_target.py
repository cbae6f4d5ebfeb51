from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from service.errors.table_errors import TableChanged
from service.ingest.committing.rewrite_target import is_current, rewrite_target
from service.model.ingest.writing import WritableTable, WriteTarget
from service.model.tables.schemas import Field, ListOf, Primitive, Struct, TableSchema
from service.model.tables.tables import PartitionField
from tests.unit.ingest.wide_table import DATE, DAY, ID, LONG, NOTE, PLACE, STRING, TABLE, with_columns

INT = Primitive("int")
NARROW = Field(1, "id", INT, is_required=True)


def table(*columns: Field, spec_id: int = 7) -> WritableTable:
    made = with_columns(*columns)
    return replace(made, spec_id=spec_id, schema=TableSchema(9, columns))


def target(*column_ids: int) -> WriteTarget:
    return WriteTarget(
        TABLE.key, 0, 0, write_schema_column_ids=column_ids or None, table_uuid=TABLE.table_uuid
    )


def partitioned_by(made: WritableTable, source: str, transform: str = "identity") -> WritableTable:
    return replace(made, partition_fields=(PartitionField("part", source, transform),))


def test_the_same_columns_are_written_for_the_new_schema_and_spec() -> None:
    found = rewrite_target(table(ID, DAY, NOTE), target(6, 1), (NOTE, ID))
    assert found == replace(target(6, 1), schema_id=9, spec_id=7)


def test_a_whole_row_stays_one_while_the_table_has_no_further_columns() -> None:
    assert rewrite_target(table(NOTE, ID), target(), (ID, NOTE)).write_schema_column_ids is None
    assert rewrite_target(table(ID, NOTE, DAY), target(), (ID, NOTE)).write_schema_column_ids == (1, 6)


def test_renamed_moved_and_widened_columns_fit() -> None:
    now = table(replace(NOTE, name="remark"), ID)
    assert rewrite_target(now, target(1, 6), (NARROW, NOTE)).write_schema_column_ids == (1, 6)


@pytest.mark.parametrize(
    ("now", "written", "reason"),
    [
        (table(ID), (ID, NOTE), "column note is gone"),
        (table(NARROW), (ID,), "column id has another type"),
        (table(replace(ID, type=STRING)), (ID,), "column id has another type"),
        (table(replace(ID, type=Struct((NOTE,)))), (ID,), "column id has another type"),
        (table(ID, replace(NOTE, is_required=True)), (ID,), "note is required"),
        (replace(table(ID), format_version=4), (ID,), "format version 4"),
        (replace(table(ID), table_uuid=UUID(int=2)), (ID,), "another table of the same name"),
        (partitioned_by(table(ID, replace(DAY, is_required=True)), "day"), (ID,), "day"),
        (partitioned_by(table(ID, PLACE), "place.city"), (ID,), "partitioned by place.city"),
    ],
)
def test_what_cannot_fit_is_reported(now: WritableTable, written: tuple[Field, ...], reason: str) -> None:
    with pytest.raises(TableChanged, match=reason):
        rewrite_target(now, target(*(field.field_id for field in written)), written)


def test_a_field_inside_of_others_that_became_required_does_not_fit() -> None:
    element = Field(41, "element", Struct((Field(42, "name", STRING),)))
    required = replace(element, type=Struct((Field(42, "name", STRING, is_required=True),)))
    added = replace(element, type=Struct((Field(42, "name", STRING), Field(43, "new", STRING, True))))
    for field in (required, added):
        now, before = table(Field(4, "tags", ListOf(field))), Field(4, "tags", ListOf(element))
        with pytest.raises(TableChanged, match="is required now"):
            rewrite_target(now, target(4), (before,))


def test_a_written_column_that_became_required_is_left_to_the_values() -> None:
    now = table(ID, replace(NOTE, is_required=True))
    assert rewrite_target(now, target(1, 6), (ID, NOTE)).write_schema_column_ids == (1, 6)


def test_what_the_table_is_partitioned_by_now_is_written_too() -> None:
    now = partitioned_by(table(ID, Field(2, "day", DATE), NOTE), "day", "month")
    assert rewrite_target(now, target(6, 1), (NOTE, ID)).write_schema_column_ids == (6, 1, 2)
    gone = partitioned_by(now, "day", "void")
    assert rewrite_target(gone, target(6, 1), (NOTE, ID)).write_schema_column_ids == (6, 1)


def test_files_of_this_schema_and_spec_are_current() -> None:
    now = table(Field(1, "id", LONG))
    current = replace(target(1), schema_id=9, spec_id=7)
    assert is_current(now, current)
    assert is_current(now, replace(current, table_uuid=None))
    for other in (replace(current, schema_id=8), replace(current, spec_id=6), target(1)):
        assert not is_current(now, other)
    assert not is_current(replace(now, table_uuid=UUID(int=2)), current)


def test_an_upsert_keeps_its_keys() -> None:
    upsert = replace(target(1, 6), is_upsert=True, equality_field_ids=(1,))
    now = table(ID, DAY, NOTE)
    assert rewrite_target(now, upsert, (ID, NOTE)) == replace(upsert, schema_id=9, spec_id=7)
    by_key = partitioned_by(now, "id", "bucket[4]")
    assert rewrite_target(by_key, upsert, (ID, NOTE)).equality_field_ids == (1,)


@pytest.mark.parametrize("column_ids", [(1, 6), ()])
def test_an_upsert_does_not_fit_partitions_by_what_is_none_of_its_keys(column_ids: tuple[int, ...]) -> None:
    upsert = replace(target(*column_ids), is_upsert=True, equality_field_ids=(1,))
    for source, columns in (("note", (ID, NOTE)), ("day", (ID, NOTE, Field(2, "day", DATE)))):
        now = partitioned_by(table(*columns), source)
        with pytest.raises(TableChanged, match=f"partitioned by {source}"):
            rewrite_target(now, upsert, (ID, NOTE))


def test_the_sort_order_that_was_asked_for_stays() -> None:
    asked = replace(target(6, 1), sort_order_id=4)
    assert rewrite_target(table(ID, DAY, NOTE), asked, (NOTE, ID)).sort_order_id == 4
