"""Reads every n-th row of some data files, in a few columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.manifest import FileFormat
from pyiceberg.types import NestedField

from service.model.tables.table_layout import LayoutFile, LayoutValue, RowSample

_BATCH_ROWS = 4_096
_MOST_GROUP_BYTES = 256 * 1024**2
"""A file with more in the columns of one row group is not sampled: it would be in memory at once."""
_TEXT_CHARACTERS = 64
_FIELD_ID = b"PARQUET:field_id"


@dataclass(frozen=True, slots=True)
class FileSource:
    """Where the rows of a file are."""

    path: str
    format: FileFormat


@dataclass(frozen=True, slots=True)
class SampledFile:
    """A file, what is known of it, and its place in the layout."""

    source: FileSource
    layout: LayoutFile
    number: int


def sampled_rows(
    io: FileIO,
    files: Sequence[SampledFile],
    fields: Mapping[str, NestedField],
    max_rows: int,
    is_late: Callable[[], bool],
) -> RowSample:
    """Returns rows spread evenly over these files; none of a file that cannot be sampled, or not in time.

    Raises:
        OSError: the storage does not give a file.
    """
    total = sum(file.layout.record_count for file in files)
    step = max(1, -(-total // max_rows))
    numbers: list[int] = []
    columns: dict[str, list[LayoutValue | None]] = {name: [] for name in fields}
    for file in files:
        found = None if is_late() else _of_file(io, file, fields, step, is_late)
        if found is not None:
            numbers += [file.number] * found.num_rows
            for name in fields:
                columns[name] += found.column(name).to_pylist()
    return RowSample(numbers, columns)


def _of_file(
    io: FileIO,
    sampled: SampledFile,
    fields: Mapping[str, NestedField],
    step: int,
    is_late: Callable[[], bool],
) -> pa.Table | None:
    if sampled.source.format != FileFormat.PARQUET:
        return None
    try:
        with io.new_input(sampled.source.path).open() as stream:
            texts = _texts(pq.read_schema(stream), fields)
            return _read(pq.ParquetFile(stream, read_dictionary=texts), sampled.layout, fields, step, is_late)
    except pa.ArrowException:
        # Not what its manifest says, or with something that Arrow does not read.
        return None


def _read(
    file: pq.ParquetFile,
    layout: LayoutFile,
    fields: Mapping[str, NestedField],
    step: int,
    is_late: Callable[[], bool],
) -> pa.Table | None:
    names = file_names(file.schema_arrow, fields)
    if not names or not _is_small(file.metadata, set(names.values())):
        return None
    batches = []
    # The middle of each step: so files that are shorter than a step have a row as often as they should.
    next_row = step // 2
    for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(names.values()))):
        if is_late():
            return None
        places = pa.array(range(next_row, batch.num_rows, step), pa.int64())
        next_row = next_row + len(places) * step - batch.num_rows
        batches.append(_converted(batch.take(places), names, layout, fields))
    return pa.Table.from_batches(batches) if batches else None


def file_names(schema: pa.Schema, fields: Mapping[str, NestedField]) -> dict[str, str]:
    """Returns for each column the one in the file, by its id; an imported file has no ids."""
    by_id = {
        int(found.metadata[_FIELD_ID]): found.name
        for found in schema
        if found.metadata and _FIELD_ID in found.metadata
    }
    by_name = {} if by_id else {found.name: found.name for found in schema}
    names = {name: by_id.get(field.field_id, by_name.get(name)) for name, field in fields.items()}
    return {name: found for name, found in names.items() if found is not None}


def _texts(schema: pa.Schema, fields: Mapping[str, NestedField]) -> list[str]:
    """Returns the columns to read with each value once: one long text in all rows stays one in memory."""
    names = file_names(schema, fields)
    return [found for name, found in names.items() if str(fields[name].field_type) == "string"]


def _is_small(metadata: pq.FileMetaData, names: set[str]) -> bool:
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        chunks = map(group.column, range(group.num_columns))
        sizes = (chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in names)
        if sum(sizes) > _MOST_GROUP_BYTES:
            return False
    return True


def _converted(
    batch: pa.RecordBatch, names: Mapping[str, str], layout: LayoutFile, fields: Mapping[str, NestedField]
) -> pa.RecordBatch:
    arrays = [
        _values(batch.column(names[name]), str(field.field_type))
        if name in names
        else _missing(name, layout, batch.num_rows)
        for name, field in fields.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(fields))


def _values(array: pa.Array, type_name: str) -> pa.Array:
    """Returns the values as Iceberg holds them in memory."""
    match type_name:
        case "date":
            return array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        case "timestamp" | "timestamptz":
            zone: Any = getattr(array.type, "tz", None)
            return pc.cast(array, pa.timestamp("us", zone), safe=False).cast(pa.int64())
        case "int" | "long":
            return array.cast(pa.int64())
        case "string":
            return _beginnings(array)
    precision_and_scale = type_name.removeprefix("decimal(").removesuffix(")").split(",")
    return array.cast(pa.decimal128(*map(int, precision_and_scale)))


def _beginnings(array: pa.Array) -> pa.Array:
    """Returns the first characters of texts, which are as good to compare. A few rows may have long ones."""
    if not pa.types.is_dictionary(array.type):
        return pc.utf8_slice_codeunits(array.cast(pa.large_string()), 0, _TEXT_CHARACTERS)
    short = pc.utf8_slice_codeunits(array.dictionary.cast(pa.large_string()), 0, _TEXT_CHARACTERS)
    return pa.DictionaryArray.from_arrays(array.indices, short).cast(pa.large_string())


def _missing(name: str, layout: LayoutFile, count: int) -> pa.Array:
    """A column that the file does not have: its partition's value, or NULL."""
    bounds = layout.bounds.get(name)
    is_constant = bounds is not None and bounds.lower == bounds.upper
    return pa.array([bounds.lower] * count) if bounds and is_constant else pa.nulls(count)
