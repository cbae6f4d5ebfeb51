from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
from pyiceberg.manifest import DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    IntegerType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from service.adapters.data_files.metrics.content_files import (
    content_file_json,
    data_file,
    locations_of,
    partition_json,
)
from service.adapters.data_files.metrics.file_metrics import FileMetrics
from tests.unit.adapters.data_files.states import spec_of

GOLDEN = Path(__file__).with_name("content_file.golden.json")
KINDS = [
    BooleanType(),
    DateType(),
    TimeType(),
    TimestampType(),
    TimestamptzType(),
    DecimalType(9, 2),
    StringType(),
    UUIDType(),
    FixedType(2),
    BinaryType(),
    DoubleType(),
]
SCHEMA = Schema(*(NestedField(index + 1, f"c{index}", kind) for index, kind in enumerate(KINDS)))
SPEC = spec_of(
    *((field.field_id, "identity", field.name) for field in SCHEMA.fields),
    (2, "day", "d"),
    (3, "bucket[4]", "b"),
)
VALUES = (
    True,
    (date(2026, 1, 31) - date(1970, 1, 1)).days,
    43_200_000_001,
    -1,
    1_700_000_000_123_456,
    Decimal("-7.50"),
    "Zoë",
    UUID(int=255).bytes,
    b"\x00\xff",
    b"",
    -0.5,
    -1,
    3,
)
METRICS = FileMetrics(
    record_count=3,
    column_sizes={1: 40},
    value_counts={1: 3, 2: 3},
    null_value_counts={1: 0, 2: 3},
    nan_value_counts={11: 1},
    lower_bounds={1: b"\x00"},
    upper_bounds={1: b"\xff\x01"},
    split_offsets=(4, 900),
)


def text() -> str:
    partition = partition_json(SPEC, SCHEMA, VALUES)
    return content_file_json("s3://b/t/data/a b.parquet", 1234, SPEC.spec_id, partition, 0, METRICS)


def test_the_json_is_the_one_that_every_iceberg_library_reads() -> None:
    assert json.loads(text()) == json.loads(GOLDEN.read_text())


def test_a_data_file_comes_back_as_it_was() -> None:
    found = data_file(text(), SCHEMA, SPEC)
    assert found.spec_id == SPEC.spec_id
    assert (found.content, found.file_format) == (DataFileContent.DATA, FileFormat.PARQUET)
    assert (found.file_path, found.file_size_in_bytes) == ("s3://b/t/data/a b.parquet", 1234)
    assert found.partition == Record(*VALUES)
    counts = (found.record_count, found.column_sizes, found.value_counts, found.null_value_counts)
    assert counts == (3, {1: 40}, {1: 3, 2: 3}, {1: 0, 2: 3})
    assert found.nan_value_counts == {11: 1}
    assert (found.lower_bounds, found.upper_bounds) == ({1: b"\x00"}, {1: b"\xff\x01"})
    assert (found.split_offsets, found.sort_order_id) == ([4, 900], 0)


def test_values_that_are_null_stay_so() -> None:
    values = (None,) * len(VALUES)
    assert partition_json(SPEC, SCHEMA, values) == [None] * len(VALUES)
    partition = content_file_json("f", 1, SPEC.spec_id, list(values), 0, METRICS)
    assert data_file(partition, SCHEMA, SPEC).partition == Record(*values)


@pytest.mark.parametrize("transform", ["identity", "void"])
def test_null_of_a_required_source_is_an_error_before_anyone_has_to_commit_it(transform: str) -> None:
    schema = Schema(NestedField(1, "b", BooleanType(), required=True))
    with pytest.raises(ValueError, match="cannot be committed"):
        partition_json(spec_of((1, transform, "b_part")), schema, (None,))


def test_a_day_that_cannot_be_written_down_is_an_error() -> None:
    with pytest.raises(ValueError, match="5000000"):
        partition_json(spec_of((2, "identity", "d")), SCHEMA, (5_000_000,))


@pytest.mark.parametrize(
    ("kind", "value"), [(DecimalType(5, 2), Decimal("-1000.00")), (IntegerType(), -2_147_483_700)]
)
def test_a_partition_that_its_transform_has_led_out_of_its_type_is_an_error(
    kind: PrimitiveType, value: object
) -> None:
    schema = Schema(NestedField(1, "c", kind))
    with pytest.raises(ValueError, match=r"Cannot serialize|cannot be a partition value"):
        partition_json(spec_of((1, "truncate[100]", "c_trunc")), schema, (value,))


def test_files_of_another_spec_and_delete_files_are_refused() -> None:
    with pytest.raises(ValueError, match="spec 5: spec 4"):
        data_file(text(), SCHEMA, PartitionSpec(spec_id=5))
    deletes = text().replace('"content":"data"', '"content":"equality-deletes"')
    with pytest.raises(ValueError, match="equality-deletes"):
        data_file(deletes, SCHEMA, SPEC)


@pytest.mark.parametrize(
    "location", ["s3://lake/ü/day=1/a b.parquet", 'file:///lake/"file-path":"x"\\n.parquet']
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\n", " :\n")])
def test_where_a_file_lies_is_found_in_whatever_way_the_json_is_spaced(
    location: str, separators: tuple[str, str]
) -> None:
    content = {"spec-id": 0, "content": "data", "file-path": location, "partition": ['"file-path":"y"']}
    assert locations_of([json.dumps(content, separators=separators)]) == [location]
    assert locations_of([json.dumps(content, separators=separators, ensure_ascii=False)]) == [location]


def test_what_has_no_path_is_no_file() -> None:
    with pytest.raises(ValueError, match="no path"):
        locations_of(["{}"])
