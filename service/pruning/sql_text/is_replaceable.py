"""May a SELECT replace the names of tables in this text?"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

_METADATA_COLUMNS = frozenset(
    {
        *("_file", "_pos", "_spec_id", "_partition", "_deleted", "_metadata"),
        *("_row_id", "_last_updated_sequence_number"),
    }
)


def is_replaceable(tree: exp.Query) -> bool:
    """Whether all columns keep their meaning: a filtered table has only an alias, and no metadata columns.

    A name of three parts or more may be a table's path and a column, or a relation, a column and its fields.
    A name that could be both counts as a path. So does an outer column in an expression without a name in a
    LATERAL: the engine names the result by the column's path, which an alias would change.

    >>> from sqlglot import parse_one
    >>> names = ["t.a", "t.a.b", "s.t.a", "_file", "_partition.a"]
    >>> [is_replaceable(parse_one(f"SELECT {name} FROM s.t", read="spark")) for name in names]
    [True, True, False, False, False]
    >>> lateral = "SELECT 1 FROM t, LATERAL (SELECT {})"
    >>> texts = [lateral.format(projection) for projection in ("t.a + 1 AS b", "t.a + 1")]
    >>> [is_replaceable(parse_one(text, read="spark")) for text in texts]
    [True, False]
    """
    tables = [_parts_of_table(table) for table in tree.find_all(exp.Table) if not table.alias]
    if tables and any(map(_is_named_by_paths, tree.find_all(exp.Lateral))):
        return False
    return not any(
        _is_metadata(parts) or _is_path(column, parts, tables)
        for column in tree.find_all(exp.Column)
        for parts in [_parts_of_column(column)]
    )


def _parts_of_table(table: exp.Table) -> Sequence[str]:
    return [part.name.casefold() for part in table.parts]


def _parts_of_column(column: exp.Column) -> Sequence[str]:
    """Returns all parts of the name; the tree has the fifth part and those after it in nodes around it."""
    parts = [part.name.casefold() for part in column.parts]
    above = column.parent
    while isinstance(above, exp.Dot):
        parts.append(above.expression.name.casefold())
        above = above.parent
    return parts


def _is_metadata(parts: Sequence[str]) -> bool:
    # In front of a field of a struct, such a name is where a table's would be.
    return not _METADATA_COLUMNS.isdisjoint(parts)


def _is_path(column: exp.Column, parts: Sequence[str], tables: Collection[Sequence[str]]) -> bool:
    """Whether parts before the last may name one of the tables with its schema, or the column is a star.

    A table with a shorter name has its catalog and its schema from the session, so any may be meant.
    """
    if column.args.get("db") is None:
        return False
    if _is_star(column):
        return True
    paths = [parts[:length] for length in range(2, len(parts))]
    return any(
        all(one == other for one, other in zip(reversed(path), reversed(table), strict=False))
        for path in paths
        for table in tables
    )


def _is_named_by_paths(lateral: exp.Lateral) -> bool:
    """Whether a column inside the LATERAL gets its name from an expression over other columns."""
    listed = (projection for select in lateral.find_all(exp.Select) for projection in select.selects)
    return any(
        not isinstance(projection, exp.Alias | exp.Column) and projection.find(exp.Column)
        for projection in listed
    )


def _is_star(column: exp.Column) -> bool:
    node: exp.Expr = column
    while isinstance(node.parent, exp.Dot):
        node = node.parent
    return node.is_star
