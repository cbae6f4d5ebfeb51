"""Whether values of one Arrow type can be used where another type is expected."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa


def is_alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether the types differ at most in width, unit or the names of list elements.

    Arrow's own casts would parse numbers from strings, and take a time without a zone as UTC.

    >>> is_alike(pa.int8(), pa.int64()), is_alike(pa.string(), pa.int64())
    (True, False)
    """
    if pa.types.is_null(found):
        return True
    if pa.types.is_struct(wanted):
        return _names(found) == _names(wanted) and all(
            is_alike(found.field(index).type, wanted.field(index).type) for index in range(wanted.num_fields)
        )
    if pa.types.is_large_list(wanted):
        return _is_list(found) and is_alike(found.value_type, wanted.value_type)
    if pa.types.is_map(wanted):
        return pa.types.is_map(found) and (
            is_alike(found.key_type, wanted.key_type) and is_alike(found.item_type, wanted.item_type)
        )
    return any(is_kind(found) and is_kind(wanted) for is_kind in _KINDS)


def _is_list(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(is_list or pa.types.is_fixed_size_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_string or pa.types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(is_binary or pa.types.is_fixed_size_binary(kind) or kind == pa.uuid())


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) and kind.tz is not None)


def _is_local_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) and kind.tz is None)


def _names(kind: pa.DataType) -> list[str] | None:
    return [kind.field(index).name for index in range(kind.num_fields)] if pa.types.is_struct(kind) else None


_KINDS: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_time,
    _is_moment,
    _is_local_moment,
    _is_text,
    _is_bytes,
)
