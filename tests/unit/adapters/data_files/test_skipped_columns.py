from __future__ import annotations

from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StructType

from service.adapters.data_files.layout.file_schema import file_schema
from service.adapters.data_files.layout.skipped_columns import null_field_ids
from tests.unit.adapters.data_files.states import EVENTS, spec_of


def null_ids(*column_ids: int) -> set[int]:
    return set(null_field_ids(EVENTS, file_schema(EVENTS, column_ids), UNPARTITIONED_PARTITION_SPEC))


def test_skipped_columns_are_null_and_so_are_the_fields_of_skipped_structs() -> None:
    assert null_ids(1, 3) == {2, 4, 5, 6, 7, 8}


def test_a_column_with_an_initial_default_is_not_null_though_it_is_skipped() -> None:
    assert 11 not in null_ids(1)


def test_skipped_fields_of_a_struct_in_part_are_null_and_those_in_lists_are_not_counted() -> None:
    assert null_ids(1, 2, 3, 4, 6) == {7, 8}


def test_a_struct_with_a_default_inside_may_be_made_by_readers() -> None:
    inner = StructType(NestedField(3, "a", LongType()), NestedField(4, "b", LongType(), initial_default=0))
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "s", inner))
    assert null_field_ids(schema, file_schema(schema, (1,)), UNPARTITIONED_PARTITION_SPEC) == {3}


def test_of_a_partitions_source_readers_may_know_the_value() -> None:
    assert 2 not in null_field_ids(EVENTS, file_schema(EVENTS, (1,)), spec_of((2, "identity", "day")))


def test_of_a_partition_field_that_was_removed_nobody_knows_a_value() -> None:
    spec = spec_of((2, "void", "day"), (3, "bucket[4]", "name_bucket"))
    assert null_field_ids(EVENTS, file_schema(EVENTS, (1, 3)), spec) == {2, 4, 5, 6, 7, 8}
