"""A table's properties for its files. An invalid property counts as not set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.schema import Schema
from pyiceberg.types import BooleanType, DoubleType, FloatType, NestedField, PrimitiveType, StructType

from service.adapters.catalogs.variant_type import VariantType
from service.adapters.data_files.layout.stored_variants import NAMES, is_stored_variant
from service.adapters.data_files.plan.dictionary_columns import dictionary_columns
from service.model.identity import Identity

_MIB = 1024**2
_CODECS = {
    "zstd": "zstd",
    "gzip": "gzip",
    "snappy": "snappy",
    "brotli": "brotli",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "uncompressed": "none",
    "none": "none",
}
_LEVELS = {"zstd": range(1, 23), "gzip": range(1, 10), "brotli": range(12)}
_ZSTD_LEVEL = 3
_MAX_CACHED_PATHS = 512
_BLOOM_FILTER = "write.parquet.bloom-filter-enabled.column."
_PARAMETERS = signature(pq.ParquetWriter).parameters
_HAS_BLOOM_FILTERS = "bloom_filter_options" in _PARAMETERS
# If the rows of a page cannot be bounded, a page ends at the earliest after a batch of this many rows.
_PAGE_ROWS = "max_rows_per_page" if "max_rows_per_page" in _PARAMETERS else "write_batch_size"
# The bits per distinct value of Parquet's split-block filters, at one false positive in a hundred.
_BLOOM_BITS = 11
_WITHOUT_BLOOM_FILTER = (BooleanType, FloatType, DoubleType, VariantType)


@dataclass(frozen=True, slots=True)
class WriteProperties:
    """The properties `write.target-file-size-bytes` and `write.parquet.*`."""

    properties: Mapping[str, str]

    @property
    def target_file_bytes(self) -> int:
        """A larger file gets no more rows."""
        return self._number("write.target-file-size-bytes", 512 * _MIB)

    @property
    def row_group_bytes(self) -> int:
        """The most memory that one row group takes before it is encoded."""
        return self._number("write.parquet.row-group-size-bytes", 128 * _MIB)

    @property
    def row_group_rows(self) -> int:
        """The most rows of one row group."""
        return self._number("write.parquet.row-group-limit", 1_048_576)

    def parquet_options(self, schema: Schema, filed: pa.Schema, rows: pa.Table) -> dict[str, Any]:
        """Arguments of `pyarrow.parquet.ParquetWriter` for a file of this schema; `filed` is it in Arrow.

        The file begins with these rows, and its row groups have about as many.
        """
        codec = _CODECS.get(self.properties.get("write.parquet.compression-codec", "").lower(), "zstd")
        return {
            "compression": codec,
            "compression_level": self._level(codec),
            # A third smaller and faster than dictionaries on all columns, which is Parquet's default.
            "use_dictionary": [
                *dictionary_columns(_paths(filed, _is_text), rows),
                # The names of its fields, which are mostly the same in all rows.
                *_paths(filed, is_stored_variant, f".{NAMES[0]}"),
            ]
            or False,
            # None for columns whose statistics readers would misread: see `own_statistics`.
            "write_statistics": _paths(filed, _has_statistics) or False,
            "data_page_size": self._number("write.parquet.page-size-bytes", _MIB),
            "dictionary_pagesize_limit": self._number("write.parquet.dict-size-bytes", 2 * _MIB),
            _PAGE_ROWS: self._number("write.parquet.page-row-limit", 20_000),
            "store_decimal_as_integer": True,
            # Iceberg's readers use ids and the table's types; they do not know Arrow's.
            "store_schema": False,
        } | self._bloom_filters(schema, filed, rows.num_rows)

    def _bloom_filters(self, schema: Schema, filed: pa.Schema, row_count: int) -> dict[str, Any]:
        if not any(name.startswith(_BLOOM_FILTER) for name in self.properties):
            return {}
        # There cannot be more values than rows, whatever the property says.
        most = min(row_count, self._number("write.parquet.bloom-filter-max-bytes", _MIB) * 8 // _BLOOM_BITS)
        filters = {
            path: {
                "ndv": max(1, min(most, self._number(f"write.parquet.bloom-filter-ndv.column.{name}", most))),
                "fpp": self._share(f"write.parquet.bloom-filter-fpp.column.{name}", 0.01),
            }
            for name, path, kind in _single_values(schema.fields, filed)
            if self._has_bloom_filter(name, kind)
        }
        return {"bloom_filter_options": filters} if filters and _HAS_BLOOM_FILTERS else {}

    def _has_bloom_filter(self, name: str, kind: PrimitiveType) -> bool:
        # A filter finds only one of the two zeros, which are equal. Parquet has no filters for booleans, and
        # the bytes of variants are not searched for.
        is_possible = not isinstance(kind, _WITHOUT_BLOOM_FILTER)
        return is_possible and self.properties.get(_BLOOM_FILTER + name, "").lower() == "true"

    def _level(self, codec: str) -> int | None:
        if codec not in _LEVELS:
            return None
        default = _ZSTD_LEVEL if codec == "zstd" else -1
        level = self._number("write.parquet.compression-level", default)
        return level if level in _LEVELS[codec] else _ZSTD_LEVEL if codec == "zstd" else None

    def _number(self, name: str, default: int) -> int:
        text = self.properties.get(name, "").strip()
        return int(text) if text.isdecimal() and 0 < int(text) < 2**62 else default

    def _share(self, name: str, default: float) -> float:
        text = self.properties.get(name, "").strip()
        digits = text.removeprefix("0.")
        return float(text) if text != digits and digits.isdecimal() and int(digits) else default


def _single_values(
    fields: Iterable[NestedField], filed: Iterable[pa.Field], name: str = "", path: str = ""
) -> Iterator[tuple[str, str, PrimitiveType]]:
    """Yields the Iceberg name, Parquet path and type of fields with one value per row; lists are excluded.

    Scans do not use filters on lists.
    """
    for field, column in zip(fields, filed, strict=True):
        kind = field.field_type
        if isinstance(kind, StructType):
            inner = map(column.type.field, range(column.type.num_fields))
            yield from _single_values(kind.fields, inner, f"{name}{field.name}.", f"{path}{column.name}.")
        elif isinstance(kind, PrimitiveType):
            yield name + field.name, path + column.name, kind


def _paths(schema: pa.Schema, is_wanted: Callable[[pa.DataType], bool], below: str = "") -> list[str]:
    """Returns the Parquet paths of the columns whose type is wanted, and ends each with `below`.

    A variant is one column here.
    """
    return [path + below for path in _known_paths(Identity(schema), is_wanted)]


@lru_cache(_MAX_CACHED_PATHS)
def _known_paths(schema: Identity[pa.Schema], is_wanted: Callable[[pa.DataType], bool]) -> tuple[str, ...]:
    # File plans are cached, and their schemas with them.
    return tuple(path for field in schema.value for path in _paths_below(field.type, field.name, is_wanted))


def _paths_below(kind: pa.DataType, path: str, is_wanted: Callable[[pa.DataType], bool]) -> list[str]:
    if pa.types.is_struct(kind) and not is_stored_variant(kind):
        inner = [(field.type, f"{path}.{field.name}") for field in map(kind.field, range(kind.num_fields))]
    elif pa.types.is_large_list(kind):
        inner = [(kind.value_type, f"{path}.list.element")]
    elif pa.types.is_map(kind):
        inner = [(kind.key_type, f"{path}.key_value.key"), (kind.item_type, f"{path}.key_value.value")]
    else:
        return [path] if is_wanted(kind) else []
    return [found for part, below in inner for found in _paths_below(part, below, is_wanted)]


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_string(kind))


def _has_statistics(kind: pa.DataType) -> bool:
    return not (pa.types.is_floating(kind) or kind == pa.uuid() or is_stored_variant(kind))
