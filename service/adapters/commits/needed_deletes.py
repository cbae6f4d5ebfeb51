"""Finds the equality-delete files that can delete a row of a branch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.transforms import VoidTransform
from pyiceberg.types import NestedField

from service.adapters.commits.cached_values import CachedValues
from service.adapters.commits.live_files import LiveFile, LiveFiles
from service.adapters.data_files.metrics.content_files import delete_file, equality_ids_of, spec_id_of

# A description that is out of date or unreadable is left for the commit to reject.
_NOT_UNDERSTOOD = (ValueError, TypeError, LookupError, ArithmeticError)


class NeededDeletes:
    """Decides for the snapshot that a commit starts from; the commit requires that it is still the head.

    A delete file is needed unless the metadata of every data file rules out that it holds one of the keys:
    the data file is in another partition, or the bounds of a key column do not overlap. Readers use the same
    rule to decide to which files they apply a delete. If a fact is unknown, the delete file is needed.
    """

    def __init__(self, live: LiveFiles) -> None:
        self._live = live

    def of(self, table: Table, branch: str, files: Iterable[str]) -> list[str]:
        """Returns the needed ones among these files, as Iceberg's JSON."""
        known: dict[tuple[int, ...], list[LiveFile] | None] = {}
        return [file for file in files if self._is_needed(table, branch, file, known)]

    def _is_needed(
        self, table: Table, branch: str, text: str, known: dict[tuple[int, ...], list[LiveFile] | None]
    ) -> bool:
        try:
            ids = equality_ids_of(text)
            fields = [table.schema().find_field(field_id) for field_id in ids]
            if ids not in known:
                known[ids] = self._live.of(table, branch, fields)
            live = known[ids]
            return live is None or (bool(live) and _deletes_any(table, text, fields, live))
        except _NOT_UNDERSTOOD:
            return True


def _deletes_any(table: Table, text: str, fields: Sequence[NestedField], live: Iterable[LiveFile]) -> bool:
    spec = table.specs()[spec_id_of(text)]
    file = delete_file(text, table.schema(), spec)
    keys = [CachedValues.of(file, field) for field in fields]
    return any(_reaches(file, spec, live_file) and _may_have(live_file, keys) for live_file in live)


def _may_have(file: LiveFile, keys: Sequence[CachedValues]) -> bool:
    return all(column.may_share(key) for column, key in zip(file.columns, keys, strict=True))


def _reaches(delete: DataFile, spec: PartitionSpec, file: LiveFile) -> bool:
    """Whether an equality delete applies to a file: of its spec and partition, or of any if unpartitioned.

    Source: the Iceberg table specification, "Scan Planning".
    """
    if is_unpartitioned(spec):
        return True
    if file.spec_id != spec.spec_id:
        return False
    values = [delete.partition[place] for place in range(len(spec.fields))]
    return all(_may_be_equal(one, other) for one, other in zip_longest(values, file.partition))


def _may_be_equal(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    # The same value may have two types if it was read from two kinds of files.
    return type(one) is not type(other) or isinstance(one, float) or one == other


def is_unpartitioned(spec: PartitionSpec) -> bool:
    """Whether files of this spec have no partition. Format version 1 leaves void fields behind."""
    return all(isinstance(field.transform, VoidTransform) for field in spec.fields)
