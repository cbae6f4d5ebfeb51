"""Which columns Iceberg's transforms are made of, in new tables and in what is written.

Source: the Iceberg table specification, "Partition Transforms".
"""

from __future__ import annotations

import re

_WITH_NUMBER = re.compile(r"(bucket|truncate)\[([1-9]\d{0,8})\]")
_DAYS = ("date", "timestamp", "timestamptz")
_EXACT = ("int", "long", "decimal", "string", "time", "fixed", "binary", *_DAYS)
_TYPES: dict[str, tuple[str, ...]] = {
    # Iceberg's libraries order UUIDs differently, so that one leaves out what the other has written.
    "identity": ("boolean", "float", "double", *_EXACT),
    "bucket": ("uuid", *_EXACT),
    "truncate": ("int", "long", "decimal", "string", "binary"),
    "year": _DAYS,
    "month": _DAYS,
    "day": _DAYS,
    "hour": ("timestamp", "timestamptz"),
    "void": ("boolean", "float", "double", "uuid", *_EXACT),
}
# As partition values these are spelled so by one library that another cannot read the table any more.
_NO_PARTITION_VALUES = frozenset({("identity", "fixed")})


def is_made_of(transform: str, type_name: str) -> bool:
    """Whether values of this type have such a transform, and one order that all readers know.

    >>> is_made_of("bucket[8]", "uuid"), is_made_of("identity", "uuid")
    (True, False)
    """
    return _plain(type_name) in _TYPES.get(_plain(transform), ())


def is_partition_of(transform: str, type_name: str) -> bool:
    """Whether files can be written under such a partition field, too, and then be read.

    >>> is_partition_of("bucket[8]", "fixed[3]"), is_partition_of("identity", "fixed[3]")
    (True, False)
    """
    kinds = (_plain(transform), _plain(type_name))
    return is_made_of(transform, type_name) and kinds not in _NO_PARTITION_VALUES


def transform_fault(transform: str) -> str | None:
    """Why no new table has this transform, of whatever; None when one may.

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
