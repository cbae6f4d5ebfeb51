"""Makes the rest of a record, the fields that no column takes, into the text or the variant of one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from service.ingest.decoding.values.scalar_values import Convert
from service.ingest.decoding.values.variant_values import variant_value
from service.model.ingest.record_rest import MAX_REST_DEPTH, RecordRest
from service.model.tables.schemas import VARIANT, Field, Primitive

Values = Callable[[Sequence[Field]], Convert]
"""Makes a converter of objects with the given fields."""
_OPENING = (b"{", b"[")
# Without spaces and in UTF-8; numbers have all of their digits, however many these are.
_encode = msgspec.json.Encoder(decimal_format="number").encode


def values_with_rest(fields: Sequence[Field], rest: RecordRest | None, values: Values) -> Convert:
    """Returns a converter for objects with these fields, one of which takes all fields without a column.

    The rest is NULL in objects that have none.

    Raises:
        IngestInvalid: a field has a type that these records cannot represent.

    >>> from service.ingest.decoding.values.nested_values import struct_values
    >>> from service.model.tables.schemas import Primitive
    >>> fields = Field(1, "id", Primitive("long")), Field(2, "more", Primitive("string"))
    >>> convert = values_with_rest(fields, RecordRest("more"), struct_values)
    >>> convert({"id": 1, "x": [1.50, None]}), convert({"id": 2})
    ({'id': 1, 'more': '{"x":[1.5,null]}'}, {'id': 2, 'more': None})
    """
    if rest is None:
        return values(fields)
    named = tuple(field for field in fields if field.name != rest.column)
    column = next(field for field in fields if field.name == rest.column)
    names, convert = frozenset(field.name for field in named), values(named)

    def converted(record: object) -> object:
        if not isinstance(record, Mapping):
            return convert(record)
        check_has_no_rest(record, rest)
        others = {name: value for name, value in record.items() if name not in names}
        own = {name: value for name, value in record.items() if name in names} if others else record
        row = convert(own)
        assert isinstance(row, Mapping)
        value = rest_value(others, rest, column)
        if value is None and column.is_required:
            raise ValueError(f"{rest.column} is required, and the record has no other fields")
        return {**row, rest.column: value}

    return converted


def check_has_no_rest(record: Mapping[str, object], rest: RecordRest) -> None:
    """Checks that the record does not have the column of the rest itself.

    Raises:
        ValueError: it does.
    """
    if rest.column in record:
        raise ValueError(f"{rest.column} takes the rest of the record, and cannot be sent itself")


def rest_value(others: Mapping[str, object], rest: RecordRest, column: Field) -> object:
    """Returns these values of `exact_json` as a value of the column, for Arrow; None if there are none.

    Raises:
        ValueError: the value would be too large, is nested too deeply, is not Unicode, or has a number that
            the column cannot hold.
    """
    if column.type == Primitive(VARIANT):
        return _rest_variant(others, rest)
    return rest_text(others, rest)


def _rest_variant(others: Mapping[str, object], rest: RecordRest) -> object:
    if not others:
        return None
    try:
        found = variant_value(others, MAX_REST_DEPTH)
    except RecursionError:
        raise _too_deep(rest) from None
    except ValueError as reason:
        raise ValueError(f"{rest.column}: the rest of the record {reason}") from None
    _check_size(sum(map(len, found.values())), rest)
    return found


def rest_text(others: Mapping[str, object], rest: RecordRest) -> str | None:
    """Returns these values of `exact_json` as compact JSON; None if there are none.

    Raises:
        ValueError: the text would be too long, is nested too deeply, or is not Unicode.

    >>> rest_text({"a": "é", "b": {"c": 10**20}}, RecordRest("more"))
    '{"a":"é","b":{"c":100000000000000000000}}'
    >>> rest_text({"a": "é"}, RecordRest("more", max_bytes=9))
    Traceback (most recent call last):
    ValueError: more: the rest of the record has 10 bytes, and at most 9 are taken
    """
    if not others:
        return None
    try:
        text = _encode(others)
    except RecursionError:
        raise _too_deep(rest) from None
    except UnicodeEncodeError:
        raise ValueError(f"{rest.column}: the rest of the record has a text that is not Unicode") from None
    _check_size(len(text), rest)
    # Counting is quick, and hardly any record has so many.
    if sum(map(text.count, _OPENING)) > MAX_REST_DEPTH and _depth(others) > MAX_REST_DEPTH:
        raise _too_deep(rest)
    return text.decode()


def _check_size(size: int, rest: RecordRest) -> None:
    if size > rest.max_bytes:
        raise ValueError(
            f"{rest.column}: the rest of the record has {size} bytes, and at most {rest.max_bytes} are taken"
        )


def _too_deep(rest: RecordRest) -> ValueError:
    return ValueError(
        f"{rest.column}: the rest of the record is nested deeper than {MAX_REST_DEPTH} objects and arrays"
    )


def _depth(value: object) -> int:
    """Returns how many objects and arrays are inside each other, at most one more than is allowed."""
    depth, layer = 0, [value]
    while layer and depth <= MAX_REST_DEPTH:
        inside: list[object] = []
        for each in layer:
            match each:
                case Mapping():
                    inside += [item for item in each.values() if isinstance(item, Mapping | list)]
                case list():
                    inside += [item for item in each if isinstance(item, Mapping | list)]
        depth, layer = depth + 1, inside
    return depth
