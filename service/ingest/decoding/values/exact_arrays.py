"""Converts Arrow arrays to the type of a field: every value exactly, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.values.arrow_types import arrow_field
from service.ingest.decoding.values.scalar_values import uuid_bytes
from service.ingest.decoding.values.sent_types import MIDNIGHTS
from service.model.tables.schemas import VARIANT, Field, ListOf, MapOf, Primitive, Struct

_DAY_US = 86_400_000_000
_UUID = pa.binary(16)


class InvalidValue(ValueError):
    """A value does not fit its field; the error does not say which value."""


def exact_array(array: pa.Array, field: Field, place: str = "") -> pa.Array:
    """Returns the same values in the field's type.

    Raises:
        IngestInvalid: no values of this type could fit.
        InvalidValue: a value does not.
    """
    name = f"{place}{field.name}"
    found = _converted(_plain(array), field, name)
    if field.is_required and found.null_count:
        raise InvalidValue(f"{name} is required")
    return found


def _plain(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage)
    if types.is_dictionary(array.type):
        return _plain(array.dictionary_decode())
    if types.is_run_end_encoded(array.type):
        return _plain(pc.run_end_decode(array))
    return array


def _converted(array: pa.Array, field: Field, name: str) -> pa.Array:
    kind = arrow_field(field).type
    if types.is_null(array.type):
        return pa.nulls(len(array), kind)
    match field.type:
        case Struct(fields) if types.is_struct(array.type):
            return _struct(array, fields, kind, name)
        case ListOf(element) if _is_list(array.type):
            return _list(array, element, kind, name)
        case MapOf(key, value) if types.is_map(array.type):
            return _map(array, key, value, kind, name)
        case Primitive(primitive) if _fits(array.type, primitive, kind):
            # Dates that are not whole days, or out of range, are reported before they become moments.
            days = _cast(array, pa.date32(), name) if primitive == MIDNIGHTS else array
            return _uuids(days, name) if primitive == "uuid" else _cast(days, kind, name)
        case _:
            raise IngestInvalid(
                f"Column {name}: values of type {array.type} are not accepted as {_spelled(field)}."
            )


def _spelled(field: Field) -> str:
    match field.type:
        case Primitive(name):
            return name
        case Struct():
            return "struct"
        case ListOf():
            return "list"
        case MapOf():
            return "map"


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    is_sized = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(is_sized or types.is_fixed_size_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_small_floating(kind: pa.DataType) -> bool:
    return bool(types.is_float16(kind) or types.is_float32(kind))


_FITTING: dict[str, Callable[[pa.DataType], bool]] = {
    "boolean": types.is_boolean,
    "int": types.is_integer,
    "long": types.is_integer,
    "float": lambda kind: types.is_integer(kind) or _is_small_floating(kind),
    "double": lambda kind: types.is_integer(kind) or types.is_floating(kind),
    "string": _is_text,
    "binary": _is_bytes,
    "date": types.is_date,
    MIDNIGHTS: types.is_date,
    "time": types.is_time,
    # The rest of records is not sent as a column.
    VARIANT: lambda _kind: False,
}


def _fits(given: pa.DataType, primitive: str, kind: pa.DataType) -> bool:
    if primitive in _FITTING:
        return _FITTING[primitive](given)
    if types.is_timestamp(kind):
        return types.is_timestamp(given) and (given.tz is None) == (kind.tz is None)
    if types.is_decimal(kind):
        return bool(types.is_decimal(given)) and abs(given.scale) <= _decimal_digits(given)
    # UUIDs and other bytes of a fixed length. Engines return UUIDs as text, and both without their length.
    if types.is_fixed_size_binary(given):
        return bool(given == kind)
    return _is_bytes(given) or (primitive == "uuid" and _is_text(given))


def _uuids(array: pa.Array, name: str) -> pa.Array:
    if not _is_text(array.type):
        return _cast(array, _UUID, name)
    try:
        return pa.array([None if text is None else uuid_bytes(text) for text in array.to_pylist()], _UUID)
    except ValueError as error:
        raise InvalidValue(f"{name}: {error}") from None


def _decimal_digits(kind: pa.DataType) -> int:
    """Returns its most digits: Arrow cannot write numbers of a larger scale, and divides them to 0."""
    return 76 if types.is_decimal256(kind) else 38


def _cast(array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    try:
        if types.is_decimal(kind):
            _check_digits(array, kind, name)
        found = array.cast(kind)
        if types.is_time(kind):
            _check_times(found, name)
        if types.is_date(kind) or (types.is_timestamp(kind) and kind.unit == "us"):
            _check_years(found, name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidValue(f"{name}: {str(error).splitlines()[0]:.200}") from None
    return found


def _check_digits(array: pa.Array, kind: pa.DataType, name: str) -> None:
    """Checks for too many digits, as Arrow may miss that 128 bits cannot hold a number at a larger scale.

    Such a number could become another one.
    """
    whole = kind.precision - kind.scale
    given = array.type
    if given.precision - given.scale <= whole:
        return
    # Arrow has no `min_max` for shorter decimals.
    is_long = types.is_decimal128(given) or types.is_decimal256(given)
    found = pc.min_max(array if is_long else array.cast(pa.decimal128(given.precision, given.scale)))
    bound = Decimal(10) ** whole
    if found["max"].is_valid and not -bound < found["min"].as_py() <= found["max"].as_py() < bound:
        raise InvalidValue(f"{name}: a number has more than {whole} digits before the point")


def _check_years(array: pa.Array, name: str) -> None:
    """Checks for the years 1 to 9999, the only ones that Python readers and JSON support."""
    first, last = (pa.scalar(year, array.type) for year in _years(array.type))
    is_within = pc.and_(pc.greater_equal(array, first), pc.less_equal(array, last))
    if pc.all(is_within).as_py() is False:
        raise InvalidValue(f"{name}: a day or a moment lies outside of the years 1 to 9999")


def _check_times(array: pa.Array, name: str) -> None:
    """Checks times itself, as Arrow does not: one outside of a day would be stored as another time."""
    found = pc.min_max(array.view(pa.int64()))
    if found["max"].is_valid and not 0 <= found["min"].as_py() <= found["max"].as_py() < _DAY_US:
        raise InvalidValue(f"{name}: a time lies outside of a day")


def _years(kind: pa.DataType) -> tuple[date, date]:
    if types.is_date(kind):
        return date.min, date.max
    zone = None if kind.tz is None else UTC
    return datetime.min.replace(tzinfo=zone), datetime.max.replace(tzinfo=zone)


def _struct(array: pa.Array, fields: tuple[Field, ...], kind: pa.DataType, name: str) -> pa.Array:
    given = {array.type.field(index).name: index for index in range(array.type.num_fields)}
    if len(given) < array.type.num_fields:
        raise IngestInvalid(f"Column {name} has two fields of one name.")
    unknown = given.keys() - {field.name for field in fields}
    if unknown:
        raise IngestInvalid(f"Column {name} has no field {min(unknown)}.")
    # Each child includes the nulls of the struct.
    children = array.flatten()
    found = [
        _child(children[given[field.name]] if field.name in given else None, field, array, name)
        for field in fields
    ]
    return pa.StructArray.from_arrays(
        found, fields=[kind.field(index) for index in range(kind.num_fields)], mask=array.is_null()
    )


def _child(child: pa.Array | None, field: Field, struct: pa.Array, name: str) -> pa.Array:
    values = pa.nulls(len(struct)) if child is None else child
    found = _converted(_plain(values), field, f"{name}.{field.name}")
    if not field.is_required or found.null_count == 0:
        return found
    if pc.any(pc.and_(found.is_null(), struct.is_valid())).as_py():
        raise InvalidValue(f"{name}.{field.name} is required")
    return _without_nulls(found, struct)


def _without_nulls(child: pa.Array, struct: pa.Array) -> pa.Array:
    """Returns the child with some value where the struct is null, as files state that it is never null."""
    valid = struct.is_valid()
    first = pc.index(valid, True).as_py()
    if first < 0:
        # Null structs that are built from Python have values inside.
        kind = pa.struct([pa.field("child", child.type, nullable=False)])
        return pa.array([None] * len(child), kind).field(0)
    rows = pa.array(range(len(child)), pa.int32())
    return child.take(pc.if_else(valid, rows, pa.scalar(first, pa.int32())))


def _list(array: pa.Array, element: Field, kind: pa.DataType, name: str) -> pa.Array:
    values = exact_array(array.flatten(), element, f"{name}.")
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int32())
    return pa.ListArray.from_arrays(_offsets(lengths), values, type=kind, mask=array.is_null())


def _map(array: pa.Array, key: Field, value: Field, kind: pa.DataType, name: str) -> pa.Array:
    # After `take`, the entries begin with the first row's, and null rows have none.
    fresh = array.take(pa.array(range(len(array)), pa.int32()))
    keys = exact_array(fresh.keys, key, f"{name}.")
    _check_keys(pa.ListArray.from_arrays(fresh.offsets, keys), key, name)
    items = exact_array(fresh.items, value, f"{name}.")
    return pa.MapArray.from_arrays(fresh.offsets, keys, items, type=kind, mask=array.is_null())


def _check_keys(lists: pa.Array, key: Field, name: str) -> None:
    """Checks that a map has each of its keys once."""
    rows, keys = pc.list_parent_indices(lists), lists.flatten()
    if isinstance(key.type, Primitive):
        pairs = pa.table({"row": rows, "key": keys}).group_by(["row", "key"], use_threads=False)
        distinct_count = pairs.aggregate([]).num_rows
    else:
        distinct_count = len(set(zip(rows.to_pylist(), map(repr, keys.to_pylist()), strict=True)))
    if distinct_count < len(keys):
        raise InvalidValue(f"{name}: a key stands there twice")


def _offsets(lengths: pa.Array) -> pa.Array:
    ends = pc.cumulative_sum(lengths)
    return pa.concat_arrays([pa.array([0], pa.int32()), ends.cast(pa.int32())])
