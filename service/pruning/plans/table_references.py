"""The table references of a query, in the order of the text."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def table_references(tree: exp.Query) -> Sequence[exp.Table]:
    """Returns every table reference, from the first to the last, without the names in hints.

    >>> from sqlglot import parse_one
    >>> [table.name for table in table_references(parse_one("SELECT * FROM a, (SELECT * FROM b) AS c, d"))]
    ['a', 'b', 'd']
    """
    found = (table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    return sorted((table for table in found if table.find_ancestor(exp.Hint) is None), key=_place)


def is_reference_to(table: exp.Table, full_name: str) -> bool:
    """Whether a table reference, which may leave out catalog and schema, may mean this table.

    >>> is_reference_to(exp.to_table("tpcds.item"), "lake.tpcds.item")
    True
    """
    parts = [part.name.lower() for part in table.parts]
    return full_name.lower().split(".")[-len(parts) :] == parts


def _place(table: exp.Table) -> int:
    place: int = table.this.meta.get("start", -1) if isinstance(table.this, exp.Identifier) else -1
    return place
