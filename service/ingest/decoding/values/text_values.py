"""Converts values that are all spelled as text, as in CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from service.ingest.decoding.values.exact_json import NumberTooLong, exact_json, exact_number
from service.ingest.decoding.values.nested_values import struct_values
from service.ingest.decoding.values.scalar_values import Convert
from service.model.tables.schemas import Field, Primitive

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,400})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,400})(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,5})?")
_BOOLEANS = {"true": True, "false": False}


def text_values(fields: Sequence[Field]) -> Convert:
    """Returns a converter for texts by name: numbers and booleans are as in JSON, nested values are JSON.

    All others are as in a JSON string.

    >>> text_values([Field(1, "a", Primitive("long"))])({"a": "7"})
    {'a': 7}
    """
    meant = {field.name: _meaning(field) for field in fields}
    convert = struct_values(fields)

    def converted(value: object) -> object:
        if not isinstance(value, Mapping):
            raise ValueError("a record is wanted")
        return convert({name: meant.get(name, _itself)(text) for name, text in value.items()})

    return converted


def _meaning(field: Field) -> Callable[[str], object]:
    match field.type:
        case Primitive("boolean"):
            return lambda text: _BOOLEANS.get(text, text)
        case Primitive("int" | "long"):
            return lambda text: int(text) if _WHOLE.fullmatch(text) else text
        case Primitive("float" | "double"):
            return _number
        case Primitive():
            return _itself
        case _:
            return lambda text: _json(field.name, text)


def _itself(text: str) -> object:
    return text


def _number(text: str) -> object:
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if _WHOLE.fullmatch(text) else exact_number(text)


def _json(name: str, text: str) -> object:
    try:
        return exact_json(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"{name}: {text!r:.60} is not JSON") from None
    except NumberTooLong as reason:
        raise ValueError(f"{name}: {reason}") from None
    except ValueError as reason:
        raise ValueError(f"{name}: {text!r:.60} is not JSON: {reason}") from None
