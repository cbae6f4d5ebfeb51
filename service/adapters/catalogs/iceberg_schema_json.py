"""Reads and writes Iceberg's JSON of schemas, and checks a caller's JSON place by place.

Source: the Iceberg table specification, "Appendix C: JSON serialization".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from service.errors.ingest_errors import IngestInvalid
from service.faults import Fault
from service.model.storable_texts import text_fault
from service.model.tables.schemas import (
    VARIANT,
    Field,
    FieldType,
    ListOf,
    MapOf,
    Primitive,
    Struct,
    TableSchema,
    fields_with_paths,
)

_MAX_DEPTH = 32
_MAX_ID = 2**31 - 1
_NUMBERS = ("int", "long", "float", "double")
_TIMES = ("date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
_PRIMITIVES = frozenset({"boolean", *_NUMBERS, *_TIMES, "string", "uuid", "binary", VARIANT})
_FIXED = re.compile(r"fixed\[\s*(\d{1,9})\s*\]")
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")


def schema_from_json(json: object) -> TableSchema:
    """Returns the schema that this parsed JSON describes.

    Raises:
        IngestInvalid: it does not describe one; `violations` names every place that is wrong.

    >>> schema_from_json({"fields": [{"id": 1, "name": "a", "type": "int"}]}).columns[0].type
    Primitive(name='int')
    """
    reader = _Reader()
    schema = reader.schema(json)
    if reader.violations:
        raise IngestInvalid(f"This is not an Iceberg schema: {reader.violations[0]}", reader.violations)
    return schema


def schema_to_json(schema: TableSchema) -> dict[str, object]:
    """Returns the schema as Iceberg writes it."""
    return {
        "type": "struct",
        "schema-id": schema.schema_id,
        "identifier-field-ids": sorted(schema.identifier_field_ids),
        "fields": [_field_to_json(column) for column in schema.columns],
    }


class _Reader:
    """Continues after a mistake, so that all of them are reported at once."""

    def __init__(self) -> None:
        self.violations: list[Fault] = []

    def schema(self, json: object) -> TableSchema:
        content = self._object(json, "schema")
        columns = self._fields(content.get("fields"), "fields", _MAX_DEPTH)
        schema_id = self._number(content.get("schema-id", 0), "schema-id", least=0)
        known = Counter(field.field_id for _, field in fields_with_paths(columns))
        for field_id in (field_id for field_id, count in known.items() if count > 1):
            self._wrong("fields", f"The field id {field_id} is given more than once.")
        identifiers = self._list(content.get("identifier-field-ids", []), "identifier-field-ids")
        return TableSchema(schema_id, columns, self._identifiers(identifiers, known))

    def _identifiers(self, ids: list[object], known: Iterable[int]) -> frozenset[int]:
        found: set[int] = set()
        for field_id in ids:
            if isinstance(field_id, int) and field_id in known:
                found.add(field_id)
            else:
                self._wrong("identifier-field-ids", f"There is no field with the id {str(field_id)[:100]}.")
        return frozenset(found)

    def _fields(self, json: object, place: str, depth: int) -> tuple[Field, ...]:
        fields = tuple(
            self._field(element, f"{place}[{index}]", depth)
            for index, element in enumerate(self._list(json, place))
        )
        for name, count in Counter(field.name for field in fields).items():
            if count > 1:
                self._wrong(place, f"The name {name!r} is given more than once.")
        return fields

    def _field(self, json: object, place: str, depth: int) -> Field:
        content = self._object(json, place)
        doc = content.get("doc")
        if doc is not None and not isinstance(doc, str):
            self._wrong(f"{place}.doc", "must be a text")
        elif doc is not None and (fault := text_fault(doc)):
            self._wrong(f"{place}.doc", fault)
        return Field(
            self._number(content.get("id"), f"{place}.id"),
            self._name(content.get("name"), f"{place}.name"),
            self._type(content.get("type"), f"{place}.type", depth),
            self._flag(content.get("required", False), f"{place}.required"),
            content.get("initial-default"),
            content.get("write-default"),
            doc if isinstance(doc, str) else None,
        )

    def _type(self, json: object, place: str, depth: int) -> FieldType:
        if isinstance(json, str):
            return self._primitive(json, place)
        content = self._object(json, place)
        if depth == 0:
            self._wrong(place, f"is nested more than {_MAX_DEPTH} levels deep")
            return Struct(())
        match content.get("type"):
            case "struct":
                return Struct(self._fields(content.get("fields"), f"{place}.fields", depth - 1))
            case "list":
                return ListOf(self._part(content, "element", place, depth))
            case "map":
                key = self._part(content | {"key-required": True}, "key", place, depth)
                return MapOf(key, self._part(content, "value", place, depth))
            case other:
                self._wrong(
                    place, f"{other!r} is not a type; supported are struct, list, map and names of types"
                )
                return Struct(())

    def _part(self, content: Mapping[str, object], part: str, place: str, depth: int) -> Field:
        return Field(
            self._number(content.get(f"{part}-id"), f"{place}.{part}-id"),
            part,
            self._type(content.get(part), f"{place}.{part}", depth - 1),
            self._flag(content.get(f"{part}-required", False), f"{place}.{part}-required"),
        )

    def _primitive(self, name: str, place: str) -> Primitive:
        if name in _PRIMITIVES:
            return Primitive(name)
        if (fixed := _FIXED.fullmatch(name)) and int(fixed[1]) > 0:
            return Primitive(f"fixed[{int(fixed[1])}]")
        if decimal := _DECIMAL.fullmatch(name):
            precision, scale = int(decimal[1]), int(decimal[2])
            if 0 < precision <= 38 and scale <= precision:
                return Primitive(f"decimal({precision}, {scale})")
        self._wrong(place, f"{name[:100]!r} is not a type that can be written")
        return Primitive("int")

    def _object(self, json: object, place: str) -> dict[str, object]:
        if isinstance(json, dict):
            return json
        self._wrong(place, "must be an object")
        return {}

    def _list(self, json: object, place: str) -> list[object]:
        if isinstance(json, list):
            return json
        self._wrong(place, "must be a list")
        return []

    def _number(self, json: object, place: str, least: int = 1) -> int:
        if isinstance(json, int) and not isinstance(json, bool) and least <= json <= _MAX_ID:
            return json
        self._wrong(place, f"must be a whole number of {least} or more")
        return least

    def _name(self, json: object, place: str) -> str:
        fault = text_fault(json) if isinstance(json, str) and json else "must be a text that is not empty"
        if isinstance(json, str) and fault is None:
            return json
        self._wrong(place, fault or "")
        # A unique name, so that one mistake is reported once.
        return place

    def _flag(self, json: object, place: str) -> bool:
        if isinstance(json, bool):
            return json
        self._wrong(place, "must be true or false")
        return False

    def _wrong(self, place: str, message: str) -> None:
        # The place is one in the schema, which may itself stand anywhere in a request.
        self.violations.append(Fault(f"{place}: {message}"))


def _field_to_json(field: Field) -> dict[str, object]:
    always = {
        "id": field.field_id,
        "name": field.name,
        "required": field.is_required,
        "type": _type_to_json(field.type),
    }
    sometimes = {
        "doc": field.doc,
        "initial-default": field.initial_default,
        "write-default": field.write_default,
    }
    return always | {key: value for key, value in sometimes.items() if value is not None}


def _type_to_json(kind: FieldType) -> object:
    match kind:
        case Primitive(name):
            return name
        case Struct(fields):
            return {"type": "struct", "fields": [_field_to_json(field) for field in fields]}
        case ListOf(element):
            return {"type": "list"} | _part_to_json(element)
        case MapOf(key, value):
            parts = _part_to_json(key) | _part_to_json(value)
            return {"type": "map"} | {name: part for name, part in parts.items() if name != "key-required"}


def _part_to_json(part: Field) -> dict[str, object]:
    return {
        f"{part.name}-id": part.field_id,
        part.name: _type_to_json(part.type),
        f"{part.name}-required": part.is_required,
    }
