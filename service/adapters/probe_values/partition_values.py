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
from service.model.filters.filtering import KeyValue
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
        each.source_id: place
        for place, each in enumerate(spec.fields)
        if isinstance(each.transform, IdentityTransform)
    }
    if len(places) < 2:
        return PartitionValues((), frozenset())
    try:
        tuples = frozenset(tuple(each.partition[place] for place in places.values()) for each in files)
    except NOT_UNDERSTOOD:
        return PartitionValues((), frozenset())
    return PartitionValues(tuple(places), tuples)


def partition_tuples(
    partitions: Sequence[PartitionValues | None], fields: Mapping[int, NestedField]
) -> PartitionTuples | None:
    """Combines all manifests of a snapshot with these columns; None if one of them is unknown."""
    known = [each for each in partitions if each is not None]
    if not known or len(known) < len(partitions):
        return None
    common = set.intersection(*(set(each.source_ids) for each in known))
    columns = [each for source_id, each in fields.items() if source_id in common and has_intervals(each)]
    if len(columns) < 2:
        return None
    try:
        tuples = frozenset(values for each in known for values in _values(each, columns))
    except NOT_UNDERSTOOD:
        return None
    return PartitionTuples(tuple(each.name for each in columns), tuples)


def _values(
    partitions: PartitionValues, columns: Sequence[NestedField]
) -> Iterable[tuple[KeyValue | None, ...]]:
    places = [(partitions.source_ids.index(each.field_id), each.field_type) for each in columns]
    for raw in partitions.tuples:
        yield tuple(None if raw[place] is None else value_of(raw[place], type_) for place, type_ in places)
