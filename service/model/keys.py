"""Types of keys: which compare as the values that they are, and which values a type can hold."""

from __future__ import annotations

_INTEGERS = {"int": 31, "long": 63}
_EXACT = ("date", "string", "boolean", "timestamp", "timestamptz")


def key_family(type_name: str) -> str | None:
    """Types of one family are compared value by value, exactly; None when a type must not be a key.

    Floating point is none: Iceberg drops the file that holds -0.0 for a predicate `k = 0.0`.

    >>> key_family("int") == key_family("long"), key_family("double")
    (True, None)
    """
    if type_name in _INTEGERS:
        return "integer"
    if type_name in _EXACT or type_name.startswith("decimal("):
        return type_name
    return None


def can_hold(type_name: str, value: object) -> bool:
    """Whether a value of the type's family is one of the type.

    >>> can_hold("int", 2**31), can_hold("long", 2**31)
    (False, True)
    """
    bits = _INTEGERS.get(type_name)
    return bits is None or (isinstance(value, int) and -(2**bits) <= value < 2**bits)
