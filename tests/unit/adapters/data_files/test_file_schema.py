from __future__ import annotations

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, MapType, NestedField, StringType, StructType

from service.adapters.data_files.layout.file_schema import file_schema
from tests.unit.adapters.data_files.states import EVENTS


def ids(schema: Schema) -> list[int]:
    return [field.field_id for field in schema.fields]


def test_without_ids_a_file_has_the_whole_schema() -> None:
    assert file_schema(EVENTS, None) == EVENTS


def test_columns_stand_in_the_order_of_their_ids() -> None:
    assert ids(file_schema(EVENTS, (3, 1, 8))) == [3, 1, 8]


def test_a_struct_in_part_stands_where_its_first_field_does_with_its_fields_in_their_order() -> None:
    schema = file_schema(EVENTS, (7, 1, 6))
    assert ids(schema) == [5, 1]
    place = schema.find_type(5)
    assert isinstance(place, StructType)
    assert [field.name for field in place.fields] == ["zip", "city"]


def test_structs_in_lists_and_in_values_of_maps_are_written_in_part_too() -> None:
    value = StructType(NestedField(4, "a", IntegerType()), NestedField(5, "b", IntegerType()))
    schema = Schema(NestedField(1, "m", MapType(2, StringType(), 3, value, False)))
    assert file_schema(schema, (5,)).find_field("m.value.b").field_id == 5
    with pytest.raises(ValueError):
        file_schema(schema, (5,)).find_field("m.value.a")
    assert file_schema(EVENTS, (10,)).find_field("tags.element.tag").field_id == 10


@pytest.mark.parametrize("column_ids", [(99,), (1, 1), (5, 6), (1, 99)])
def test_ids_that_are_unknown_given_twice_or_inside_one_another_are_refused(
    column_ids: tuple[int, ...],
) -> None:
    with pytest.raises(ValueError, match="field ids"):
        file_schema(EVENTS, column_ids)


def test_of_a_maps_key_nothing_can_be_left_out() -> None:
    key = StructType(NestedField(4, "a", IntegerType()), NestedField(5, "b", IntegerType()))
    schema = Schema(NestedField(1, "m", MapType(2, key, 3, StringType(), False)))
    with pytest.raises(ValueError, match="field ids"):
        file_schema(schema, (4,))
