"""Names that Iceberg reads after a table's name: its metadata tables, branches, tags and snapshots.

`lake.shop.item.files` are the files of `lake.shop.item`. But if a schema has the same name as the table and
holds a table `files`, Iceberg reads the rows of that table instead.
"""

from __future__ import annotations

import re

METADATA_TABLES = (
    "all_data_files",
    "all_delete_files",
    "all_entries",
    "all_files",
    "all_manifests",
    "changes",
    "data_files",
    "delete_files",
    "entries",
    "files",
    "history",
    "manifests",
    "metadata_log_entries",
    "partitions",
    "position_deletes",
    "refs",
    "rewrite",
    "snapshots",
)
RESERVED_PATTERN = f"(?i){'|'.join(METADATA_TABLES)}|(branch|tag)_.*|(snapshot_id|at_timestamp)_[0-9]+"
"""For Python and Java. Source: Iceberg's `MetadataTableType` and `SparkCatalog`, version 1.12."""
_RESERVED = re.compile(RESERVED_PATTERN)


def is_reserved(table: str) -> bool:
    """Returns whether no table may be made with this name, in upper or lower case.

    >>> [is_reserved(name) for name in ("files", "Branch_audit", "snapshot_id_7", "snapshot_id_x", "file")]
    [True, True, True, False, False]
    """
    return _RESERVED.fullmatch(table) is not None


def is_plain(part: str) -> bool:
    r"""Returns whether SQL may write to something whose name has this part.

    Full names are joined by dots, some catalogs make folders of them, and `*` stands for every table of a
    schema: `a.b`, `..` or a name that ends with a space could be taken for another one.

    >>> [is_plain(part) for part in ("item", "Überblick 1", "*", "..", "a.b", "", " a", "a\n", "a\\b")]
    [True, True, False, False, False, False, False, False, False]
    """
    return part == part.strip() != "" and part.isprintable() and not set(part).intersection(".*\\")
