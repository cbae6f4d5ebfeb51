"""Converts a column's bounds from Parquet's statistics to the bytes in Iceberg's metadata.

Source: the Iceberg table specification, "Appendix D: Single-value serialization".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyiceberg.conversions import to_bytes
from pyiceberg.types import BinaryType, DecimalType, PrimitiveType, StringType
from pyiceberg.utils.decimal import unscaled_to_decimal

_SURROGATES = range(0xD800, 0xE000)
_LAST_CODE_POINT = 0x10FFFF


@dataclass(frozen=True, slots=True)
class BoundForm:
    """How bounds of a column are written. It is built once per column, not once per file.

    `comparable` takes a value as Parquet stores it, and returns a form that sorts as the column does. `lower`
    takes the least such form, and returns a value that is not above any value in the column. `upper` takes
    the greatest, and returns a value that is not below any, or None if there is no short one. Bounds of
    strings and bytes have at most `length` characters, if that is given.

    >>> BoundForm.of(StringType(), 3).upper("zebra")
    b'zec'
    """

    comparable: Callable[[Any], Any]
    lower: Callable[[Any], bytes]
    upper: Callable[[Any], bytes | None]

    @staticmethod
    def of(kind: PrimitiveType, length: int | None) -> BoundForm:
        """Returns the form for columns of this type."""
        match kind:
            case StringType():
                return BoundForm(
                    bytes.decode, lambda least: least[:length].encode(), partial(_upper_text, length=length)
                )
            case BinaryType():
                return BoundForm(
                    _as_it_is, lambda least: least[:length], partial(_upper_binary, length=length)
                )
            case DecimalType():
                write = partial(_decimal_bytes, kind)
                return BoundForm(_unscaled, write, write)
            case _:
                write = partial(to_bytes.dispatch(type(kind)), kind)
                return BoundForm(_as_it_is, write, write)


def _as_it_is(raw: Any) -> Any:
    return raw


def _unscaled(raw: bytes | int) -> int:
    return int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else raw


def _decimal_bytes(kind: DecimalType, unscaled: int) -> bytes:
    return to_bytes(kind, unscaled_to_decimal(unscaled, kind.scale))


def _upper_text(greatest: str, length: int | None) -> bytes | None:
    text = greatest if length is None or len(greatest) <= length else _text_above(greatest[:length])
    return None if text is None else text.encode()


def _upper_binary(greatest: bytes, length: int | None) -> bytes | None:
    return greatest if length is None or len(greatest) <= length else _binary_above(greatest[:length])


def _text_above(prefix: str) -> str | None:
    for end in range(len(prefix), 0, -1):
        point = ord(prefix[end - 1]) + 1
        if point in _SURROGATES:
            # Surrogates are not characters by themselves; the next character follows them.
            point = _SURROGATES.stop
        if point <= _LAST_CODE_POINT:
            return prefix[: end - 1] + chr(point)
    return None


def _binary_above(prefix: bytes) -> bytes | None:
    shortened = prefix.rstrip(b"\xff")
    return shortened[:-1] + bytes([shortened[-1] + 1]) if shortened else None
