"""The size, the partition and the bounds of each data file, from its manifest."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile, DataFileContent, ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import NestedField, PrimitiveType

from service.errors.table_errors import LayoutUnknown
from service.model.tables.table_layout import FileBounds, LayoutFile, LayoutValue

_COMPARED = frozenset({"int", "long", "date", "timestamp", "timestamptz", "string"})
# Bounds that were written under another type, or are not valid.
_NOT_UNDERSTOOD = (struct.error, ValueError, OverflowError, TypeError, ArithmeticError, LookupError)


def is_compared(field: NestedField) -> bool:
    """Whether values of the column can be compared as Iceberg compares them."""
    type_name = str(field.field_type)
    return type_name in _COMPARED or type_name.startswith("decimal(")


def data_manifests(table: Table, snapshot: Snapshot, max_files: int) -> tuple[list[ManifestFile], bool]:
    """Returns the manifests of data files, and whether there are files of deletes.

    Raises:
        LayoutUnknown: they have more files than this.
    """
    manifests = snapshot.manifests(table.io)
    found = [manifest for manifest in manifests if manifest.content == ManifestContent.DATA]
    count = sum(
        (manifest.added_files_count or 0) + (manifest.existing_files_count or 0) for manifest in found
    )
    if count > max_files:
        raise _too_many(str(count))
    return found, len(found) < len(manifests)


def data_files(
    table: Table, manifests: Iterable[ManifestFile], max_files: int, is_late: Callable[[], bool]
) -> Iterator[tuple[DataFile, PartitionSpec]]:
    """Yields the data files with their partition specs.

    Raises:
        LayoutUnknown: there are more than `max_files`, or it takes too long.
    """
    specs, count = table.specs(), 0
    for manifest in manifests:
        if is_late():
            raise LayoutUnknown("The table's manifests were not read in time.")
        for entry in manifest.fetch_manifest_entry(table.io):
            if entry.data_file.content == DataFileContent.DATA:
                count += 1
                if count > max_files:
                    # Manifests of format version 1 need not say how many files they have.
                    raise _too_many(f"more than {max_files}")
                yield entry.data_file, specs[manifest.partition_spec_id]


def file_layout(file: DataFile, spec: PartitionSpec, fields: Mapping[str, NestedField]) -> LayoutFile:
    """Returns what is known of the file and of these columns in it."""
    partition = [file.partition[place] for place in range(len(spec.fields))]
    own_values = {
        field.source_id: value
        for field, value in zip(spec.fields, partition, strict=True)
        if isinstance(field.transform, IdentityTransform)
    }
    bounds: dict[str, FileBounds] = {}
    without_values: set[str] = set()
    for name, field in fields.items():
        found = _bounds(file, field, own_values)
        if found is not None:
            bounds[name] = found
        elif _has_no_value(file, field, own_values):
            without_values.add(name)
    return LayoutFile(
        byte_count=file.file_size_in_bytes,
        record_count=file.record_count,
        path=file.file_path,
        partition=f"{spec.spec_id} {partition}" if partition else "",
        row_group_count=max(1, len(file.split_offsets or ())),
        bounds=bounds,
        without_values=frozenset(without_values),
    )


def _too_many(count: str) -> LayoutUnknown:
    return LayoutUnknown(f"The table has {count} data files: layout_advice_max_files allows fewer.")


def _bounds(file: DataFile, field: NestedField, own_values: Mapping[int, Any]) -> FileBounds | None:
    value = own_values.get(field.field_id)
    if value is not None:
        return FileBounds(value, value) if isinstance(value, LayoutValue) else None
    lower = (file.lower_bounds or {}).get(field.field_id)
    upper = (file.upper_bounds or {}).get(field.field_id)
    if lower is None or upper is None or not isinstance(field.field_type, PrimitiveType):
        return None
    try:
        found = FileBounds(from_bytes(field.field_type, lower), from_bytes(field.field_type, upper))
        return found if found.lower <= found.upper else None  # type: ignore[operator]
    except _NOT_UNDERSTOOD:
        return None


def _has_no_value(file: DataFile, field: NestedField, own_values: Mapping[int, Any]) -> bool:
    if field.field_id in own_values:
        return own_values[field.field_id] is None
    count = (file.value_counts or {}).get(field.field_id)
    return count is not None and count == (file.null_value_counts or {}).get(field.field_id)
