"""Projects a file's columns to a table's current schema: they are found by id, despite renames.

PyIceberg's own projection turns NULL lists into empty lists if they contain structs.
"""

from __future__ import annotations

from uuid import UUID

import pyarrow as pa
from pyiceberg.conversions import from_json
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.types import IcebergType, ListType, MapType, NestedField, PrimitiveType, StructType


def projected_columns(batch: pa.RecordBatch, found: Schema, wanted: Schema) -> pa.RecordBatch:
    """Returns the wanted columns, in their order and with their names, in the file's value types.

    A field that is not in the file reads as its initial default, or else as NULL.
    """
    places = {field.field_id: place for place, field in enumerate(found.fields)}
    arrays = [
        _projected(batch.column(places[field.field_id]), found.fields[places[field.field_id]], field)
        if field.field_id in places
        else _missing(field, batch.num_rows)
        for field in wanted.fields
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[field.name for field in wanted.fields])


def _projected(array: pa.Array, found: NestedField, wanted: NestedField) -> pa.Array:
    before, now = found.field_type, wanted.field_type
    if _names(before) == _names(now):
        return array
    match before, now:
        case StructType(), StructType():
            return _struct(array, before, now)
        case ListType(), ListType():
            whole = _from_its_start(array)
            values = _projected(whole.values, before.element_field, now.element_field)
            return pa.LargeListArray.from_arrays(whole.offsets.cast(pa.int64()), values, mask=whole.is_null())
        case MapType(), MapType():
            whole = _from_its_start(array)
            keys = _projected(whole.keys, before.key_field, now.key_field)
            items = _projected(whole.items, before.value_field, now.value_field)
            return pa.MapArray.from_arrays(whole.offsets, keys, items, mask=whole.is_null())
        case _:
            return array


def _struct(array: pa.StructArray, before: StructType, now: StructType) -> pa.StructArray:
    places = {field.field_id: place for place, field in enumerate(before.fields)}
    arrays = [
        # Without the struct's own NULLs: a required field has none, and the mask keeps them.
        _projected(array.field(place), before.fields[place], field)
        if (place := places.get(field.field_id)) is not None
        else _missing(field, len(array))
        for field in now.fields
    ]
    names = [field.name for field in now.fields]
    return pa.StructArray.from_arrays(arrays, names=names, mask=array.is_null())


def _from_its_start(array: pa.Array) -> pa.Array:
    # A slice shares the values of its origin, with offsets into them.
    return array.take(pa.array(range(len(array)), pa.int64()))


def _missing(field: NestedField, count: int) -> pa.Array:
    kind = schema_to_pyarrow(field.field_type, include_field_ids=False)
    default = field.initial_default
    if default is None:
        return pa.nulls(count, kind)
    if isinstance(default, str) and isinstance(field.field_type, PrimitiveType):
        default = from_json(field.field_type, default)
    stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    value = default.bytes if isinstance(default, UUID) else default
    repeated = pa.repeat(pa.scalar(value, stored), count)
    return repeated if stored is kind else pa.ExtensionArray.from_storage(kind, repeated)


def _names(kind: IcebergType) -> object:
    """The part of a type that is equal in two types if nothing has to be moved or renamed."""
    match kind:
        case StructType():
            return tuple((field.field_id, field.name, _names(field.field_type)) for field in kind.fields)
        case ListType():
            return _names(kind.element_type)
        case MapType():
            return _names(kind.key_type), _names(kind.value_type)
        case _:
            return None
