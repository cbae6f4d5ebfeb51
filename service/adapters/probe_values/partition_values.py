"""The combinations of partition values in data files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyiceberg.manifest import DataFile, ManifestFile
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import NestedField

from service.adapters.probe_values.file_interval import NOT_UNDERSTOOD, has_intervals, value_of
from service.model.filters.key_set import KeyValue
from service.model.filters.partition_tuples import PartitionTuples


@dataclass(frozen=True, slots=True)
class PartitionValues:
    """One manifest's partitions: ids of columns with an identity partition field, and their raw values."""

    source_ids: tuple[int, ...]
    tuples: frozenset[tuple[Any, ...]]


def partition_values(table: Table, manifest: ManifestFile, files: Iterable[DataFile]) -> PartitionValues:
    """Returns the values of files of the manifest, which have one partition spec."""
    spec = table.specs()[manifest.partition_spec_id]
    places = {
        field.source_id: place
        for place, field in enumerate(spec.fields)
        if isinstance(field.transform, IdentityTransform)
    }
    if len(places) < 2:
        return PartitionValues((), frozenset())
    try:
        tuples = frozenset(tuple(file.partition[place] for place in places.values()) for file in files)
    except NOT_UNDERSTOOD:
        return PartitionValues((), frozenset())
    return PartitionValues(tuple(places), tuples)


def partition_tuples(
    partitions: Sequence[PartitionValues | None], fields: Mapping[int, NestedField]
) -> PartitionTuples | None:
    """Combines all manifests of a snapshot with these columns; None if one of them is unknown."""
    known = [partition for partition in partitions if partition is not None]
    if not known or len(known) < len(partitions):
        return None
    common = set.intersection(*(set(partition.source_ids) for partition in known))
    columns = [field for source_id, field in fields.items() if source_id in common and has_intervals(field)]
    if len(columns) < 2:
        return None
    try:
        tuples = frozenset(values for partition in known for values in _values(partition, columns))
    except NOT_UNDERSTOOD:
        return None
    return PartitionTuples(tuple(column.name for column in columns), tuples)


def _values(
    partitions: PartitionValues, columns: Sequence[NestedField]
) -> Iterable[tuple[KeyValue | None, ...]]:
    places = [(partitions.source_ids.index(column.field_id), column.field_type) for column in columns]
    for raw in partitions.tuples:
        yield tuple(None if raw[place] is None else value_of(raw[place], type_) for place, type_ in places)
