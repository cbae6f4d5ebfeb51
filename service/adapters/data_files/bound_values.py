"""Bounds of a column, from the values in Parquet's statistics to the bytes in Iceberg's metadata.

Source: the Iceberg table specification, "Appendix D: Single-value serialization".
"""

from __future__ import annotations

from typing import Any

from pyiceberg.conversions import to_bytes
from pyiceberg.types import BinaryType, DecimalType, PrimitiveType, StringType
from pyiceberg.utils.decimal import unscaled_to_decimal

_SURROGATES = range(0xD800, 0xE000)
_LAST_CODE_POINT = 0x10FFFF


def comparable(kind: PrimitiveType, raw: Any) -> Any:
    """A value as Parquet stores it, in a form whose order is the column's own."""
    if isinstance(kind, StringType):
        return raw.decode()
    if isinstance(kind, DecimalType) and isinstance(raw, bytes):
        return int.from_bytes(raw, "big", signed=True)
    return raw


def lower_bound(kind: PrimitiveType, least: Any, length: int | None) -> bytes:
    """A value that none in the column is below; a text of at most `length` characters, if that is given."""
    return _bytes(kind, least[:length] if isinstance(kind, StringType | BinaryType) else least)


def upper_bound(kind: PrimitiveType, greatest: Any, length: int | None) -> bytes | None:
    """A value that none in the column is above; None where no short one is.

    >>> upper_bound(StringType(), "zebra", 3)
    b'zec'
    """
    if isinstance(kind, StringType):
        text = greatest if length is None or len(greatest) <= length else _text_above(greatest[:length])
        return None if text is None else _bytes(kind, text)
    if isinstance(kind, BinaryType):
        return greatest if length is None or len(greatest) <= length else _binary_above(greatest[:length])
    return _bytes(kind, greatest)


def _bytes(kind: PrimitiveType, value: Any) -> bytes:
    return to_bytes(kind, unscaled_to_decimal(value, kind.scale) if isinstance(kind, DecimalType) else value)


def _text_above(prefix: str) -> str | None:
    for end in range(len(prefix), 0, -1):
        point = ord(prefix[end - 1]) + 1
        if point in _SURROGATES:
            # Not characters by themselves; the next one lies behind them.
            point = _SURROGATES.stop
        if point <= _LAST_CODE_POINT:
            return prefix[: end - 1] + chr(point)
    return None


def _binary_above(prefix: bytes) -> bytes | None:
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
