"""The bytes that rows take in a Parquet file as Iceberg's writer in Spark makes it, written in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_CODECS = {
    "zstd": "zstd",
    "gzip": "gzip",
    "snappy": "snappy",
    "lz4": "lz4",
    "brotli": "brotli",
    "uncompressed": "none",
}
_LEVELS = {"zstd": 3, "gzip": 6}
"""Those of Parquet's own writer, where the table names none."""
_WITH_LEVELS = frozenset({"zstd", "gzip", "brotli"})
_PREFIX = "write.parquet."
_LENGTH_BYTES = 4
FOOTER = ""
"""Stands for what is of no column. No column has this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetOptions:
    """The properties of a table that concern its files."""

    codec: str
    level: int | None
    page_bytes: int
    page_rows: int
    dictionary_bytes: int


def parquet_options(properties: Mapping[str, str]) -> ParquetOptions | None:
    """Returns the options of new files; None if they are not those of Parquet, or not understood.

    >>> parquet_options({"write.parquet.compression-codec": "gzip"}).level
    6
    >>> parquet_options({"write.format.default": "orc"}) is None
    True
    """
    codec = _CODECS.get(properties.get(f"{_PREFIX}compression-codec", "zstd").strip().lower())
    if codec is None or properties.get("write.format.default", "parquet").strip().lower() != "parquet":
        return None
    level = properties.get(f"{_PREFIX}compression-level")
    try:
        return ParquetOptions(
            codec=codec,
            level=(int(level) if level else _LEVELS.get(codec)) if codec in _WITH_LEVELS else None,
            page_bytes=max(1, int(properties.get(f"{_PREFIX}page-size-bytes", 1024**2))),
            page_rows=max(1, int(properties.get(f"{_PREFIX}page-row-limit", 20_000))),
            dictionary_bytes=max(1, int(properties.get(f"{_PREFIX}dict-size-bytes", 2 * 1024**2))),
        )
    except ValueError:
        return None


def file_bytes(rows: pa.Table, options: ParquetOptions) -> dict[str, int]:
    """Returns the bytes of each column of a file with these rows, and of all the rest as `FOOTER`.

    Raises:
        pa.ArrowException: it has values that are not written to Parquet.
    """
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        rows.schema,
        compression=options.codec,
        compression_level=options.level,
        use_dictionary=list(_with_dictionary(rows, options)),
        dictionary_pagesize_limit=options.dictionary_bytes,
        data_page_size=options.page_bytes,
        max_rows_per_page=options.page_rows,
        store_decimal_as_integer=True,
        store_schema=False,
    ) as writer:
        writer.write_table(rows, row_group_size=max(1, rows.num_rows))
    written = sink.getvalue()
    metadata = pq.read_metadata(pa.BufferReader(written))
    found: dict[str, int] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            path = column.path_in_schema
            found[path] = found.get(path, 0) + column.total_compressed_size
    found[FOOTER] = written.size - sum(found.values())
    return found


def _with_dictionary(rows: pa.Table, options: ParquetOptions) -> Iterator[str]:
    """Yields the columns whose values Spark's writer numbers.

    It decides that by the first page: the numbers and the values have to be smaller than the page without
    them. Arrow's own writer numbers all values, which makes files with many different values larger.
    """
    first = rows.slice(0, options.page_rows)
    for field in rows.schema:
        if pa.types.is_nested(field.type):
            yield from _leaves(field)
        elif isinstance(field.type, pa.BaseExtensionType) or _is_smaller(first[field.name].drop_null()):
            yield field.name


def _is_smaller(values: pa.ChunkedArray) -> bool:
    count = len(values)
    if not count:
        return True
    different = pc.unique(values)
    numbers = count * max(1, (len(different) - 1).bit_length()) / 8
    return bool(numbers + _plain_bytes(different) < _plain_bytes(values))


def _plain_bytes(values: pa.Array | pa.ChunkedArray) -> float:
    kind, count = values.type, len(values)
    if pa.types.is_boolean(kind):
        # Never numbered.
        return 0.0
    if pa.types.is_decimal(kind):
        width = 4 if kind.precision <= 9 else 8 if kind.precision <= 18 else kind.byte_width
        return float(count * width)
    try:
        return float(count * max(4, kind.bit_width // 8))
    except ValueError:
        return count * _LENGTH_BYTES + float(pc.sum(pc.binary_length(values)).as_py() or 0)


def _leaves(field: pa.Field) -> Iterator[str]:
    schema = pa.schema([field])
    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    leaves = pq.read_metadata(pa.BufferReader(sink.getvalue())).schema
    for number in range(len(leaves)):
        yield leaves.column(number).path
