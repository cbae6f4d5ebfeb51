"""Variants as Parquet stores them: a group of two binary columns, which have no field ids.

Source: the Iceberg table specification, "Appendix A: Format-specific Requirements"; the Parquet format,
"Variant Binary Encoding".
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.types import BinaryType, IcebergType, ListType, MapType, NestedField, StructType

from service.adapters.catalogs.variant_type import VariantType, variant_ids

NAMES = ("metadata", "value")
# Parquet's sign for a field without an id. Both PyIceberg and PyArrow take it for one.
_NO_ID = -1
_FIELD_ID = b"PARQUET:field_id"
_STORED = StructType(*(NestedField(_NO_ID, name, BinaryType(), required=True) for name in NAMES))


def stored_schema(schema: Schema) -> Schema:
    """Returns the schema with the structs that files have for its variants; itself, if it has none."""
    return _mapped_schema(schema, _stored) if variant_ids(schema) else schema


def logical_schema(schema: Schema) -> Schema:
    """Returns the schema of a file with variants for such structs."""
    return _mapped_schema(schema, _logical)


def with_ids(schema: pa.Schema) -> pa.Schema:
    """Returns the Arrow schema of a file with what stands for an id where a variant's columns have none."""
    return pa.schema([field.with_type(_type_with_ids(field.type)) for field in schema], schema.metadata)


def is_stored_variant(kind: pa.DataType) -> bool:
    """Whether this is the Arrow type, with field ids, of a variant in a file."""
    return _has_names(kind) and _id_of(kind.field(0)) == str(_NO_ID).encode()


def has_variant(kind: pa.DataType) -> bool:
    """Whether this Arrow type, with field ids, is a variant in a file, or has one inside; not in a list."""
    if not pa.types.is_struct(kind):
        return False
    return is_stored_variant(kind) or any(has_variant(kind.field(at).type) for at in range(kind.num_fields))


def filled_variants(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Returns the array with empty bytes in variants that are NULL; `kind` is its type in a file.

    The columns of a variant are required. Arrow may have NULL in them where the variant itself is NULL, and
    does not take them for required then. The elements of lists and maps have been read without that.
    """
    if not has_variant(kind):
        return array
    is_variant = is_stored_variant(kind)
    parts = [array.field(at) for at in range(kind.num_fields)]
    filled = [
        pc.fill_null(part, b"") if is_variant else filled_variants(part, kind.field(at).type)
        for at, part in enumerate(parts)
    ]
    fields = [array.type.field(at) for at in range(kind.num_fields)]
    return pa.StructArray.from_arrays(filled, fields=fields, mask=array.is_null())


def _stored(kind: IcebergType) -> IcebergType:
    return _STORED if isinstance(kind, VariantType) else kind


def _logical(kind: IcebergType) -> IcebergType:
    is_stored = isinstance(kind, StructType) and all(field.field_id == _NO_ID for field in kind.fields)
    return VariantType() if is_stored else kind


def _mapped_schema(schema: Schema, change: Callable[[IcebergType], IcebergType]) -> Schema:
    fields = [_mapped_field(field, change) for field in schema.fields]
    return Schema(*fields, schema_id=schema.schema_id, identifier_field_ids=list(schema.identifier_field_ids))


def _mapped_field(field: NestedField, change: Callable[[IcebergType], IcebergType]) -> NestedField:
    return NestedField(
        field.field_id,
        field.name,
        _mapped(field.field_type, change),
        field.required,
        field.doc,
        field.initial_default,
        field.write_default,
    )


def _mapped(kind: IcebergType, change: Callable[[IcebergType], IcebergType]) -> IcebergType:
    changed = change(kind)
    if changed is not kind:
        return changed
    match kind:
        case StructType():
            return StructType(*(_mapped_field(field, change) for field in kind.fields))
        case ListType():
            return ListType(kind.element_id, _mapped(kind.element_type, change), kind.element_required)
        case MapType():
            key, value = _mapped(kind.key_type, change), _mapped(kind.value_type, change)
            return MapType(kind.key_id, key, kind.value_id, value, kind.value_required)
        case _:
            return kind


def _has_names(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and tuple(kind.field(at).name for at in range(kind.num_fields)) == NAMES


def _id_of(field: pa.Field) -> bytes | None:
    found: bytes | None = (field.metadata or {}).get(_FIELD_ID)
    return found


def _type_with_ids(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        if _has_names(kind) and all(_id_of(field) is None for field in fields):
            return pa.struct([field.with_metadata({_FIELD_ID: str(_NO_ID)}) for field in fields])
        return pa.struct([_field_with_ids(field) for field in fields])
    if pa.types.is_list(kind):
        return pa.list_(_field_with_ids(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_field_with_ids(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_field_with_ids(kind.key_field), _field_with_ids(kind.item_field))
    return kind


def _field_with_ids(field: pa.Field) -> pa.Field:
    return field.with_type(_type_with_ids(field.type))
