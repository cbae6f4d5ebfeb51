"""Converts JSON to values of structs, lists and maps."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from ctypes import c_float

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.values.scalar_values import Convert, scalar_values
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct

_SHOWN_AT_MOST = 10
_ENTRY = frozenset({"key", "value"})


def field_values(field: Field) -> Convert:
    """Returns a converter for whole values of this field; its errors name the place inside the value.

    Raises:
        IngestInvalid: the field has a type that JSON cannot represent.
    """
    convert = _values(field.type)

    def checked(value: object) -> object:
        if value is None:
            if field.is_required:
                raise ValueError(f"{field.name} is required")
            return None
        try:
            return convert(value)
        except ValueError as reason:
            raise ValueError(f"{field.name}: {reason}") from reason

    return checked


def struct_values(fields: Sequence[Field]) -> Convert:
    """Returns a converter for objects with these fields; an object with any other field does not fit."""
    converters = {field.name: field_values(field) for field in fields}

    def convert(value: object) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise ValueError("an object is wanted")
        if len(value) > len(converters) or not value.keys() <= converters.keys():
            raise ValueError(f"there is no field {_shown(value.keys() - converters.keys())}")
        return {name: converter(value.get(name)) for name, converter in converters.items()}

    return convert


def _shown(names: Set[str]) -> str:
    shown = ", ".join(f"{name:.100}" for name in sorted(map(str, names))[:_SHOWN_AT_MOST])
    more = len(names) - _SHOWN_AT_MOST
    return f"{shown} and {more} more" if more > 0 else shown


def _values(type_: FieldType) -> Convert:
    match type_:
        case Primitive(name):
            scalar = scalar_values(name)
            if scalar is None:
                raise IngestInvalid(f"No JSON value stands for the type {name}: send Arrow or Parquet.")
            return scalar
        case Struct(fields):
            return struct_values(fields)
        case ListOf(element):
            return _list_values(field_values(element))
        case MapOf(key, value):
            return _map_values(key, field_values(key), field_values(value))


def _list_values(element: Convert) -> Convert:
    def convert(value: object) -> list[object]:
        if not isinstance(value, list):
            raise ValueError("an array is wanted")
        return [element(item) for item in value]

    return convert


def _map_values(key_field: Field, key: Convert, value_of: Convert) -> Convert:
    is_text = key_field.type == Primitive("string")
    written = _single if key_field.type == Primitive("float") else lambda found: found

    def convert(value: object) -> list[tuple[object, object]]:
        if isinstance(value, Mapping) and is_text:
            return [(key(name), value_of(item)) for name, item in value.items()]
        if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
            entries = [_entry(item, key, value_of) for item in value]
            if len({_hashable(written(found)) for found, _ in entries}) < len(entries):
                raise ValueError("a key stands there twice")
            return entries
        wanted = "an object" if is_text else 'an array of {"key": …, "value": …}'
        raise ValueError(f"{wanted} is wanted")

    return convert


def _entry(sent: Mapping[str, object], key: Convert, value_of: Convert) -> tuple[object, object]:
    if not sent.keys() <= _ENTRY:
        raise ValueError(f"there is no field {_shown(sent.keys() - _ENTRY)} in an entry of a map")
    if "key" not in sent:
        raise ValueError("an entry of a map has no key")
    return key(sent["key"]), value_of(sent.get("value"))


def _single(value: object) -> object:
    """Returns the value as a column of single precision holds it."""
    return c_float(value).value if isinstance(value, float) else value


def _hashable(value: object) -> Hashable:
    match value:
        case dict():
            return tuple((name, _hashable(item)) for name, item in value.items())
        case list() | tuple():
            return tuple(_hashable(item) for item in value)
        case float() if math.isnan(value):
            # NaN does not equal itself, but is the same key.
            return "NaN"
        case _:
            return value
