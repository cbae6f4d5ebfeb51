"""The column types that each Iceberg transform accepts, in new tables and in written files.

Source: the Iceberg table specification, "Partition Transforms".
"""

from __future__ import annotations

import re

_WITH_NUMBER = re.compile(r"(bucket|truncate)\[([1-9]\d{0,8})\]")
_DAYS = ("date", "timestamp", "timestamptz")
_EXACT = ("int", "long", "decimal", "string", "time", "fixed", "binary", *_DAYS)
_TYPES: dict[str, tuple[str, ...]] = {
    # Iceberg's libraries order UUIDs differently, so one of them would skip files that the other has written.
    "identity": ("boolean", "float", "double", *_EXACT),
    "bucket": ("uuid", *_EXACT),
    "truncate": ("int", "long", "decimal", "string", "binary"),
    "year": _DAYS,
    "month": _DAYS,
    "day": _DAYS,
    "hour": ("timestamp", "timestamptz"),
    "void": ("boolean", "float", "double", "uuid", *_EXACT),
}
# One library spells these partition values in a way that keeps another from reading the table at all.
_NO_PARTITION_VALUES = frozenset({("identity", "fixed")})


def is_made_of(transform: str, type_name: str) -> bool:
    """Returns whether the transform accepts this type, in an order on which all readers agree.

    >>> is_made_of("bucket[8]", "uuid"), is_made_of("identity", "uuid")
    (True, False)
    """
    return _plain(type_name) in _TYPES.get(_plain(transform), ())


def is_partition_of(transform: str, type_name: str) -> bool:
    """Returns whether files can also be written under such a partition field, and then be read.

    >>> is_partition_of("bucket[8]", "fixed[3]"), is_partition_of("identity", "fixed[3]")
    (True, False)
    """
    kinds = (_plain(transform), _plain(type_name))
    return is_made_of(transform, type_name) and kinds not in _NO_PARTITION_VALUES


def transform_fault(transform: str) -> str | None:
    """Returns why new tables cannot use this transform on any source; None when one can.

    >>> transform_fault("bucket[8]"), transform_fault("days")[:22]
    (None, "'days' is no transform")
    """
    is_numbered = _WITH_NUMBER.fullmatch(transform) is not None
    if is_numbered or (transform in _TYPES and transform not in ("bucket", "truncate")):
        return None
    known = "identity, bucket[n], truncate[n], year, month, day, hour, void"
    return f"{transform!r} is no transform; known are {known}"


def _plain(name: str) -> str:
    return re.split(r"[(\[]", name)[0]
