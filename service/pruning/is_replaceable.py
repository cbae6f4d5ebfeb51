"""May a SELECT stand where the names of tables stand in this text?"""

from __future__ import annotations

from sqlglot import exp

_METADATA_COLUMNS = frozenset(
    {
        *("_file", "_pos", "_spec_id", "_partition", "_deleted", "_metadata"),
        *("_row_id", "_last_updated_sequence_number"),
    }
)


def is_replaceable(tree: exp.Query) -> bool:
    """Whether its columns mean the same then: a narrowed table has an alias only, and no metadata columns.

    >>> from sqlglot import parse_one
    >>> names = ["t.a", "s.t.a", "_file", "_partition.a"]
    >>> [is_replaceable(parse_one(f"SELECT {each} FROM s.t", read="spark")) for each in names]
    [True, False, False, False]
    """
    return not any(each.args.get("db") or _is_metadata(each) for each in tree.find_all(exp.Column))


def _is_metadata(column: exp.Column) -> bool:
    # Before a field of a struct, its name stands where that of a table would.
    return not _METADATA_COLUMNS.isdisjoint((column.name.lower(), column.table.lower()))
