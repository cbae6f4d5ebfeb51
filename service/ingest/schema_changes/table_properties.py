"""Which properties callers may give a table that they make.

A table's properties reach every reader's and writer's file access: among them are classes to load, addresses
to send credentials to, and folders outside of the warehouse. Only what is known to be none of that is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_VALUE_LENGTH = 1024
_NAMES = frozenset(
    {
        "comment",
        "owner",
        "gc.enabled",
        "read.split.target-size",
        "write.delete.distribution-mode",
        "write.delete.mode",
        "write.distribution-mode",
        "write.merge.mode",
        "write.metadata.compression-codec",
        "write.metadata.delete-after-commit.enabled",
        "write.metadata.metrics.default",
        "write.metadata.previous-versions-max",
        "write.object-storage.enabled",
        "write.object-storage.partitioned-paths",
        "write.parquet.compression-codec",
        "write.parquet.compression-level",
        "write.parquet.dict-size-bytes",
        "write.parquet.page-row-limit",
        "write.parquet.page-size-bytes",
        "write.parquet.row-group-limit",
        "write.parquet.row-group-size-bytes",
        "write.spark.accept-any-schema",
        "write.target-file-size-bytes",
        "write.update.mode",
        "history.expire.max-snapshot-age-ms",
        "history.expire.max-ref-age-ms",
        "history.expire.min-snapshots-to-keep",
    }
)
_OF_COLUMNS = ("write.metadata.metrics.column.", "write.parquet.bloom-filter-enabled.column.")
# Nobody but the caller gives these a meaning.
_OWN = re.compile(r"user\.[A-Za-z0-9_.-]{1,200}")
_FIXED = {"format-version": "2", "write.format.default": "parquet"}


def refused_properties(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The names of properties that are not taken, each with a reason.

    >>> list(refused_properties({"comment": "ours", "user.team": "a", "format-version": "2"}))
    []
    >>> [name for name, _ in refused_properties({"write.data.path": "s3://else/where"})]
    ['write.data.path']
    """
    for name, value in properties.items():
        if name in _FIXED:
            if value != _FIXED[name]:
                yield name, f"only {_FIXED[name]} is written here"
        elif not (name in _NAMES or name.startswith(_OF_COLUMNS) or _OWN.fullmatch(name)):
            yield name, "callers may not set this property; those of their own begin with user."
        elif len(value) > _VALUE_LENGTH:
            yield name, f"a value has {_VALUE_LENGTH} characters at most"
