"""The SELECT that the gateway writes around a filtered or pinned table: of that table and nothing else."""

from __future__ import annotations

from sqlglot import exp

_OF_A_WRAPPER = {"expressions", "from_", "where"}


def wrapper_of(table: exp.Table) -> exp.Subquery | None:
    """Returns the derived table that has all columns of this one table, and all rows or those of a condition.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT 1 FROM (SELECT * FROM t WHERE k = 1) AS f JOIN u ON f.k = u.k")
    >>> [wrapper_of(table) is not None for table in tree.find_all(exp.Table)]
    [False, True]
    """
    source = table.parent
    select = source.parent if isinstance(source, exp.From) else None
    if not isinstance(select, exp.Select) or not isinstance(select.parent, exp.Subquery):
        return None
    said = {key for key, value in select.args.items() if value}
    columns = select.expressions
    is_whole = len(columns) == 1 and type(columns[0]) is exp.Star and not columns[0].args.get("except_")
    return select.parent if is_whole and said <= _OF_A_WRAPPER and not table.args.get("joins") else None
