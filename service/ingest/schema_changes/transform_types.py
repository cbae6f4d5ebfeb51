"""Which columns Iceberg's transforms can be made of.

Source: the Iceberg table specification, "Partition Transforms".
"""

from __future__ import annotations

import re

_WITH_NUMBER = re.compile(r"(bucket|truncate)\[([1-9]\d{0,8})\]")
_DAYS = ("date", "timestamp", "timestamptz")
_TYPES: dict[str, tuple[str, ...]] = {
    "bucket": ("int", "long", "decimal", "string", "time", "uuid", "fixed", "binary", *_DAYS),
    "truncate": ("int", "long", "decimal", "string", "binary"),
    "year": _DAYS,
    "month": _DAYS,
    "day": _DAYS,
    "hour": ("timestamp", "timestamptz"),
}
_OF_ANY = ("identity", "void")


def transform_fault(transform: str, type_name: str) -> str | None:
    """Why there is no such transform of a column of this type; None when there is.

    >>> transform_fault("bucket[8]", "long"), transform_fault("hour", "date")
    (None, 'hour cannot be made of date')
    """
    found = _WITH_NUMBER.fullmatch(transform)
    kind = found[1] if found else transform
    if found is None and (kind in ("bucket", "truncate") or kind not in (*_OF_ANY, *_TYPES)):
        known = "identity, bucket[n], truncate[n], year, month, day, hour, void"
        return f"{transform!r} is no transform; known are {known}"
    plain = re.split(r"[(\[]", type_name)[0]
    if kind in _OF_ANY or plain in _TYPES[kind]:
        return None
    return f"{transform} cannot be made of {type_name}"
