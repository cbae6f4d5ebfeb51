"""Splits rows by the partition that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import TruncateTransform, VoidTransform

from service.adapters.data_files.layout.arrow_transforms import transformed
from service.adapters.data_files.layout.columns import ColumnPlace
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from service.model.tables.transforms import is_partition_of

PartitionValues = tuple[object, ...]
"""One partition: a value for each field of its spec, as Iceberg stores it; for example, a day is a number."""


@dataclass(frozen=True, slots=True)
class Partitioning:
    """A spec whose source columns are all in the file.

    Raises:
        IngestInvalid: a source column is missing, or a transform cannot be computed here.
    """

    spec: PartitionSpec
    places: Mapping[int, ColumnPlace]

    def __post_init__(self) -> None:
        for field in self.spec.fields:
            # A removed field leaves `void` behind in format version 1. Its source may be gone, and is not
            # needed.
            if not isinstance(field.transform, VoidTransform):
                self._check(field)

    def parts(self, table: pa.Table) -> Iterator[tuple[PartitionValues, pa.Table]]:
        """Yields each partition of these rows once, with its rows in their original order.

        Raises:
            RecordsInvalid: a partition value cannot be written, for example NaN.
        """
        if not self.spec.fields:
            yield (), table
            return
        keys = [self._key(table, field) for field in self.spec.fields]
        order, ends = grouped(keys)
        start = 0
        for end in ends:
            rows = table if end - start == table.num_rows else table.take(order.slice(start, end - start))
            first = order[start].as_py()
            yield tuple(key[first].as_py() for key in keys), rows
            start = end

    def _check(self, field: PartitionField) -> None:
        place = self.places.get(field.source_id)
        if place is None:
            message = f"The source of the partition field {field.name} is not among the written columns."
            raise IngestInvalid(message)
        if not is_partition_of(str(field.transform), str(place.kind)):
            message = f"{field.transform} of the type {place.kind}"
            raise IngestInvalid(f"The partition field {field.name} cannot be computed: {message}.")

    def _key(self, table: pa.Table, field: PartitionField) -> pa.Array:
        if isinstance(field.transform, VoidTransform):
            return pa.nulls(table.num_rows, pa.int32())
        place = self.places[field.source_id]
        given = place.values(table)
        values = transformed(field.transform, place.kind, given)
        if values.null_count != given.null_count or _is_wrapped(field, given, values):
            raise RecordsInvalid(f"Column {place.field.name}: a value has no {field.transform}.")
        if not pa.types.is_floating(values.type):
            return _stored(values)
        if pc.any(pc.invert(pc.is_finite(values))).as_py():
            raise RecordsInvalid(f"Column {place.field.name}: NaN and infinity cannot be partition values.")
        # The two zeros are equal, so they are one partition: this makes both positive.
        return pc.add(values, pa.scalar(0.0, values.type))


def _is_wrapped(field: PartitionField, given: pa.Array, values: pa.Array) -> bool:
    """Whether a truncated integer is below its type's minimum, and has wrapped to a large number."""
    if not isinstance(field.transform, TruncateTransform) or not pa.types.is_integer(values.type):
        return False
    return bool(pc.any(pc.greater(values, given)).as_py())


def _stored(values: pa.Array) -> pa.Array:
    kind = values.type
    if isinstance(values, pa.ExtensionArray):
        return values.storage
    if pa.types.is_date32(kind):
        return values.view(pa.int32())
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return values.view(pa.int64())
    return values


def grouped(keys: Sequence[pa.Array]) -> tuple[pa.Array, list[int]]:
    """Row numbers by group, in row order within a group, and the end of each group. NULLs are equal."""
    codes = group_codes(keys)
    order = pc.sort_indices(codes)
    runs = pc.run_end_encode(codes.take(order), run_end_type=pa.int64())
    return order, runs.run_ends.to_pylist()


def group_codes(keys: Sequence[pa.Array]) -> pa.Array:
    """A number for each row, equal for rows with equal keys, without gaps from 0 on. NULLs are equal."""
    codes = _codes(keys[0])
    for key in keys[1:]:
        # Dense after every step, so never larger than the square of the number of rows.
        further = _codes(key)
        width = pa.scalar((pc.max(further).as_py() or 0) + 1, pa.int64())
        codes = _codes(pc.add(pc.multiply(codes, width), further))
    return codes


def _codes(values: pa.Array) -> pa.Array:
    return values.dictionary_encode(null_encoding="encode").indices.cast(pa.int64())
