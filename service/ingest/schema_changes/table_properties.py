"""Defines the properties that callers may set on a new table, and their values.

A table's properties affect the file access of every reader and writer: they include classes to load,
addresses to send credentials to, and folders outside of the warehouse. Only properties that are known to be
harmless are accepted. A value that a library cannot read would fail every commit to the table, or even its
creation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_NUMBER = re.compile(r"[0-9]{1,19}")
_INTEGER, _LONG = 2**31 - 1, 2**63 - 1
_VALUE_LENGTH = 1024


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of a property that every library reads alike, so that none fails on it later."""

    words: str
    has: Callable[[str], bool]


def _number(most: int, least: int = 1) -> _Values:
    return _Values(
        f"a whole number from {least} to {most}",
        lambda value: _NUMBER.fullmatch(value) is not None and least <= int(value) <= most,
    )


def _one_of(*values: str) -> _Values:
    return _Values(f"one of {', '.join(values)}", lambda value: value.lower() in values)


_TEXT = _Values(f"a text of {_VALUE_LENGTH} characters at most", lambda value: len(value) <= _VALUE_LENGTH)
_BOOLEAN = _one_of("true", "false")
_DISTRIBUTION = _one_of("none", "hash", "range")
_ROW_CHANGE = _one_of("copy-on-write", "merge-on-read")
_METRICS_MODE = _Values(
    "one of none, counts, full, truncate(16) or of another length",
    lambda value: re.fullmatch(r"none|counts|full|truncate\([1-9][0-9]{0,8}\)", value.lower()) is not None,
)
_VALUES: Mapping[str, _Values] = {
    "comment": _TEXT,
    "owner": _TEXT,
    "gc.enabled": _BOOLEAN,
    "read.split.target-size": _number(_LONG),
    "write.delete.distribution-mode": _DISTRIBUTION,
    "write.delete.mode": _ROW_CHANGE,
    "write.distribution-mode": _DISTRIBUTION,
    "write.merge.mode": _ROW_CHANGE,
    "write.metadata.compression-codec": _one_of("none", "gzip"),
    "write.metadata.delete-after-commit.enabled": _BOOLEAN,
    "write.metadata.metrics.default": _METRICS_MODE,
    "write.metadata.previous-versions-max": _number(_INTEGER),
    "write.object-storage.enabled": _BOOLEAN,
    "write.object-storage.partitioned-paths": _BOOLEAN,
    "write.parquet.compression-codec": _one_of(
        "zstd", "gzip", "snappy", "brotli", "lz4", "lz4_raw", "uncompressed"
    ),
    # The range of zstd, which is the largest.
    "write.parquet.compression-level": _number(22, 0),
    "write.parquet.dict-size-bytes": _number(_INTEGER),
    "write.parquet.page-row-limit": _number(_INTEGER),
    "write.parquet.page-size-bytes": _number(_INTEGER),
    "write.parquet.row-group-limit": _number(_INTEGER),
    "write.parquet.row-group-size-bytes": _number(_INTEGER),
    "write.spark.accept-any-schema": _BOOLEAN,
    "write.target-file-size-bytes": _number(_LONG),
    "write.update.mode": _ROW_CHANGE,
    "history.expire.max-snapshot-age-ms": _number(_LONG),
    "history.expire.max-ref-age-ms": _number(_LONG),
    "history.expire.min-snapshots-to-keep": _number(_INTEGER),
}
_OF_COLUMNS: Mapping[str, _Values] = {
    "write.metadata.metrics.column.": _METRICS_MODE,
    "write.parquet.bloom-filter-enabled.column.": _BOOLEAN,
}
# Only the caller gives these a meaning.
_OWN = re.compile(r"user\.[A-Za-z0-9_.-]{1,200}")
_FIXED = {"format-version": "2", "write.format.default": "parquet"}


def refused_properties(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields the names of properties that are not accepted, each with a reason.

    >>> list(refused_properties({"comment": "ours", "user.team": "a", "format-version": "2"}))
    []
    >>> [name for name, _ in refused_properties({"write.data.path": "s3://else/where"})]
    ['write.data.path']
    >>> list(refused_properties({"gc.enabled": "yes please"}))
    [('gc.enabled', 'its value is one of true, false')]
    """
    for name, value in properties.items():
        if name in _FIXED:
            if value != _FIXED[name]:
                yield name, f"only {_FIXED[name]} is written here"
        elif (values := _values(name)) is None:
            yield name, "callers may not set this property; those of their own begin with user."
        elif not values.has(value):
            yield name, f"its value is {values.words}"


def accepted_properties() -> Mapping[str, str]:
    """Returns the properties that callers may set, with their values in words.

    >>> accepted_properties()["gc.enabled"]
    'one of true, false'
    """
    fixed = {name: f"only {value}" for name, value in _FIXED.items()}
    named = {name: values.words for name, values in _VALUES.items()}
    of_columns = {f"{prefix}<column>": values.words for prefix, values in _OF_COLUMNS.items()}
    return fixed | named | of_columns | {"user.<name>": _TEXT.words}


def _values(name: str) -> _Values | None:
    """Returns the allowed values; None if the property is not accepted."""
    if _OWN.fullmatch(name):
        return _TEXT
    of_columns = (values for prefix, values in _OF_COLUMNS.items() if name.startswith(prefix))
    return _VALUES.get(name) or next(of_columns, None)
