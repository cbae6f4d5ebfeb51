"""Encodes values of JSON as variants: the binary form of format version 3.

PySpark has an encoder, which only `spark_session` may import. It reads JSON again, and rounds the numbers
that the form has no exact value for.

Source: the Parquet format, "Variant Binary Encoding", version 1.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from itertools import accumulate

MAX_VARIANT_BYTES = 16 * 1024**2 - 1
"""The most bytes of a variant that Spark reads, its names and its values each."""
_VERSION = 1
# The two low bits are the basic type, and those above them its header or the type of a primitive.
_SHORT_TEXT, _OBJECT, _ARRAY = 1, 2, 3
_NULL, _TRUE, _FALSE = bytes([0 << 2]), bytes([1 << 2]), bytes([2 << 2])
_DOUBLE = struct.Struct("<Bd")
_LONG_TEXT = struct.Struct("<BI")
_DOUBLE_TYPE, _LONG_TEXT_TYPE = 7 << 2, 16 << 2
_LONGEST_SHORT_TEXT = 63
# The type, and the size in bytes, of integers; of decimals also the most digits.
_INTEGERS = ((3, 1), (4, 2), (5, 4), (6, 8))
_DECIMALS = ((8, 4, 9), (9, 8, 18), (10, 16, 38))
_MOST_DIGITS = 38
_LARGE_COUNT = 256


def variant_value(value: object, max_depth: int) -> dict[str, bytes]:
    """Returns a value of `exact_json` as the two columns of a variant; nothing of it is rounded.

    Numbers have the types that Spark's `parse_json` gives them: fractions that are written without an
    exponent are decimals, as far as their digits reach.

    Raises:
        ValueError: no variant holds the value, for example a number of more than 38 digits; it is too large;
            or more than `max_depth` objects and arrays are inside each other. The reason goes on after the
            name of the value.

    >>> {name: column.hex() for name, column in variant_value({"a": [1, "b"]}, 2).items()}
    {'metadata': '0101000161', 'value': '020100000903020002040c010562'}
    """
    encoder = _Encoder(max_depth)
    found = encoder.value(value, 0)
    columns = {"metadata": encoder.metadata(), "value": found}
    for column in columns.values():
        if len(column) > MAX_VARIANT_BYTES:
            raise ValueError(f"has {len(column)} bytes, and a variant at most {MAX_VARIANT_BYTES}")
    return columns


class _Encoder:
    """Encodes one value. Each name stands once in its metadata, in the order of their first use."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._ids: dict[str, int] = {}

    def metadata(self) -> bytes:
        names = [_encoded(name) for name in self._ids]
        total = sum(map(len, names))
        size = _size_of(max(total, len(names)))
        offsets, at = [len(names), 0], 0
        for name in names:
            at += len(name)
            offsets.append(at)
        head = bytes([_VERSION | (size - 1) << 6])
        return b"".join((head, *(offset.to_bytes(size, "little") for offset in offsets), *names))

    def value(self, value: object, depth: int) -> bytes:
        """Encodes a value that is inside so many others. A level takes one frame of Python's stack alone."""
        names: list[str] = []
        if isinstance(value, dict):
            # By code points, which is the order of their bytes in UTF-8.
            names = sorted(value)
            items = [value[name] for name in names]
        elif isinstance(value, list):
            items = value
        else:
            return _scalar(value)
        if depth >= self._max_depth:
            raise ValueError(f"is nested deeper than {self._max_depth} objects and arrays")
        ids = [self._ids.setdefault(name, len(self._ids)) for name in names]
        parts = []
        for item in items:
            parts.append(self.value(item, depth + 1))
        return _object(ids, parts) if isinstance(value, dict) else _array(parts)


def _object(ids: list[int], parts: list[bytes]) -> bytes:
    """Returns an object of these values, whose names have these ids."""
    offsets = _offsets(parts)
    id_size, size = _size_of(max(ids, default=0)), _size_of(offsets[-1])
    is_large = len(parts) >= _LARGE_COUNT
    return b"".join(
        (
            bytes([(is_large << 4 | (id_size - 1) << 2 | size - 1) << 2 | _OBJECT]),
            len(parts).to_bytes(4 if is_large else 1, "little"),
            *(number.to_bytes(id_size, "little") for number in ids),
            *(offset.to_bytes(size, "little") for offset in offsets),
            *parts,
        )
    )


def _array(parts: list[bytes]) -> bytes:
    """Returns an array of these values."""
    offsets = _offsets(parts)
    size = _size_of(offsets[-1])
    is_large = len(parts) >= _LARGE_COUNT
    return b"".join(
        (
            bytes([(is_large << 2 | size - 1) << 2 | _ARRAY]),
            len(parts).to_bytes(4 if is_large else 1, "little"),
            *(offset.to_bytes(size, "little") for offset in offsets),
            *parts,
        )
    )


def _offsets(parts: list[bytes]) -> list[int]:
    return list(accumulate(map(len, parts), initial=0))


def _size_of(number: int) -> int:
    """Returns in how many bytes the number is written."""
    return (number.bit_length() + 7) // 8 or 1


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError("has a text that is not Unicode") from None


def _text(value: str) -> bytes:
    text = _encoded(value)
    if len(text) <= _LONGEST_SHORT_TEXT:
        return bytes([len(text) << 2 | _SHORT_TEXT]) + text
    return _LONG_TEXT.pack(_LONG_TEXT_TYPE, len(text)) + text


def _scalar(value: object) -> bytes:
    match value:
        case str():
            return _text(value)
        case None:
            return _NULL
        case bool():
            return _TRUE if value else _FALSE
        case int():
            return _integer(value)
        case float():
            return _float(value)
        case Decimal():
            return _exact(value)
        case _:
            raise ValueError(f"has a value of no type of JSON: {type(value).__name__}")


def _integer(value: int) -> bytes:
    for kind, size in _INTEGERS:
        bound = 1 << 8 * size - 1
        if -bound <= value < bound:
            return bytes([kind << 2]) + value.to_bytes(size, "little", signed=True)
    return _decimal(value, 0)


def _float(value: float) -> bytes:
    text = repr(value)
    # With an exponent, the double itself is the best that there is; a decimal has no negative zero.
    if "e" in text or not value:
        return _DOUBLE.pack(_DOUBLE_TYPE, value)
    whole, _, fraction = text.rstrip("0").partition(".")
    return _decimal(int(whole + fraction), len(fraction))


def _exact(value: Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "JSON has no such number"
    text = "".join(map(str, digits))
    if exponent < 0:
        kept = max(len(text.rstrip("0")), len(text) + exponent)
        exponent += len(text) - kept
        text = text[:kept]
    # There may be any number of digits, and the exponent may have any size.
    text += "0" * min(exponent, _MOST_DIGITS + 1)
    if len(text) > _MOST_DIGITS:
        raise _too_long()
    unscaled = int(text or "0")
    return _decimal(-unscaled if sign else unscaled, max(-exponent, 0))


def _decimal(unscaled: int, scale: int) -> bytes:
    digits = max(len(str(abs(unscaled))), scale)
    for kind, size, most in _DECIMALS:
        if digits <= most:
            return bytes([kind << 2, scale]) + unscaled.to_bytes(size, "little", signed=True)
    raise _too_long()


def _too_long() -> ValueError:
    return ValueError(f"has a number of more than {_MOST_DIGITS} digits, which a variant cannot hold")
