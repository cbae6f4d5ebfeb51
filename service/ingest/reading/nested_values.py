"""From JSON to values of structs, lists and maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from service.errors import IngestInvalid
from service.ingest.reading.scalar_values import Convert, scalar_values
from service.model.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct

_SHOWN_AT_MOST = 10


def field_values(field: Field) -> Convert:
    """What converts values of this field, whole; a reason names the place inside of it.

    Raises:
        IngestInvalid: the field has a type that no JSON stands for.
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
    """What converts an object with these fields; a field that it has besides does not fit."""
    converters = {each.name: field_values(each) for each in fields}

    def convert(value: object) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise ValueError("an object is wanted")
        if len(value) > len(converters) or not value.keys() <= converters.keys():
            raise ValueError(f"there is no field {_shown(value.keys() - converters.keys())}")
        return {name: each(value.get(name)) for name, each in converters.items()}

    return convert


def _shown(names: Set[str]) -> str:
    shown = ", ".join(f"{each:.100}" for each in sorted(map(str, names))[:_SHOWN_AT_MOST])
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
        return [element(each) for each in value]

    return convert


def _map_values(key_field: Field, key: Convert, value_of: Convert) -> Convert:
    is_text = key_field.type == Primitive("string")

    def convert(value: object) -> list[tuple[object, object]]:
        if isinstance(value, Mapping) and is_text:
            return [(key(name), value_of(each)) for name, each in value.items()]
        if isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
            return [(key(each.get("key")), value_of(each.get("value"))) for each in value]
        wanted = "an object" if is_text else 'an array of {"key": …, "value": …}'
        raise ValueError(f"{wanted} is wanted")

    return convert
