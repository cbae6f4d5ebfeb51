"""Finds fields that are certainly NULL in every row of a file, because the file lacks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema, index_by_id
from pyiceberg.transforms import VoidTransform
from pyiceberg.types import NestedField, StructType


def null_field_ids(schema: Schema, written: Schema, spec: PartitionSpec) -> frozenset[int]:
    """Ids of fields that every reader reads as NULL.

    It excludes fields with an initial default, which read as that default; fields in lists and maps, whose
    number of values is unknown; and sources of partitions, whose value readers may know without the file,
    unless the transform is `void`.
    """
    written_ids = frozenset(index_by_id(written))
    sources = frozenset(
        field.source_id for field in spec.fields if not isinstance(field.transform, VoidTransform)
    )
    return frozenset(_null_ids(schema.fields, written_ids)) - sources


def _null_ids(fields: Iterable[NestedField], written_ids: frozenset[int]) -> Iterator[int]:
    for field in fields:
        if field.initial_default is not None:
            continue
        if field.field_id not in written_ids and not _has_default(field):
            yield field.field_id
        if isinstance(field.field_type, StructType):
            yield from _null_ids(field.field_type.fields, written_ids)


def _has_default(field: NestedField) -> bool:
    # A reader may build a missing struct from its fields' defaults.
    if not isinstance(field.field_type, StructType):
        return False
    return any(child.initial_default is not None or _has_default(child) for child in field.field_type.fields)
