"""Adds the zone to moments that Parquet holds as INT96: writers mean UTC, but the type does not say so.

Source: Spark's `ParquetRowConverter`, which reads INT96 into its TIMESTAMP, and Hive, which writes it so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyarrow import types

from service.model.tables.schemas import Field, Primitive

Path = tuple[int, ...]
"""The places of fields within fields, from a column down to one of its moments."""

_ZONED = (Primitive("timestamptz"), Primitive("timestamptz_ns"))
_MARK = b"sluice.int96"


def int96_paths(schema: pa.Schema, other: pa.Schema) -> dict[str, tuple[Path, ...]]:
    """Returns the INT96 moments in each column that has some: their type differs in another unit."""
    pairs = zip(schema, other, strict=True)
    return {one.name: tuple(_differing(one.type, two.type)) for one, two in pairs if one.type != two.type}


def marked_int96(batch: pa.RecordBatch, paths: Mapping[str, Sequence[Path]]) -> pa.RecordBatch:
    """Returns the batch with these moments marked as INT96."""
    fields = [_marked(field, paths[field.name]) if field.name in paths else field for field in batch.schema]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def in_utc_where_wanted(batch: pa.RecordBatch, wanted: Sequence[Field]) -> pa.RecordBatch:
    """Returns the batch with INT96 moments in UTC where their field, at any depth, has a zone."""
    fields = {field.name: field for field in wanted}
    if not any(_paths(field) and field.name in fields for field in batch.schema):
        return batch
    columns = [
        column.view(_zoned(column.type, fields[field.name], _paths(field)))
        if field.name in fields
        else column
        for field, column in zip(batch.schema, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _differing(one: pa.DataType, two: pa.DataType) -> Iterator[Path]:
    if types.is_timestamp(one):
        yield ()
        return
    for place, (below, other) in enumerate(zip(_children(one), _children(two), strict=True)):
        if below.type != other.type:
            yield from ((place, *rest) for rest in _differing(below.type, other.type))


def _marked(field: pa.Field, paths: Sequence[Path]) -> pa.Field:
    return field.with_metadata({_MARK: json.dumps(paths).encode()})


def _paths(field: pa.Field) -> list[list[int]]:
    found: list[list[int]] = json.loads((field.metadata or {}).get(_MARK, b"[]"))
    return found


def _zoned(kind: pa.DataType, wanted: Field, paths: Sequence[Sequence[int]]) -> pa.DataType:
    if not paths:
        return kind
    if types.is_timestamp(kind):
        return pa.timestamp(kind.unit, "UTC") if wanted.type in _ZONED else kind
    children = [
        _zoned_child(
            below, _wanted_child(kind, below, place, wanted), [path[1:] for path in paths if path[0] == place]
        )
        for place, below in enumerate(_children(kind))
    ]
    return _with_children(kind, children)


def _zoned_child(below: pa.Field, wanted: Field | None, paths: Sequence[Sequence[int]]) -> pa.Field:
    return below if wanted is None else below.with_type(_zoned(below.type, wanted, paths))


def _wanted_child(kind: pa.DataType, below: pa.Field, place: int, wanted: Field) -> Field | None:
    """Returns the matching field: in structs by name, in lists and maps by place."""
    if types.is_struct(kind):
        return next((child for child in wanted.children if child.name == below.name), None)
    return wanted.children[place] if place < len(wanted.children) else None


def _children(kind: pa.DataType) -> list[pa.Field]:
    if types.is_map(kind):
        return [kind.key_field, kind.item_field]
    return [kind.field(place) for place in range(kind.num_fields)]


def _with_children(kind: pa.DataType, children: Sequence[pa.Field]) -> pa.DataType:
    if types.is_struct(kind):
        return pa.struct(children)
    if types.is_map(kind):
        return pa.map_(*children, keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(children[0], kind.list_size)
    return pa.large_list(children[0]) if types.is_large_list(kind) else pa.list_(children[0])
