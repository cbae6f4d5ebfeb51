"""Replaces the versions of a query's tables by the snapshots that they name."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp


def at_snapshots(tree: exp.Query, snapshots: Mapping[int, int]) -> exp.Query:
    """Returns the tree with each table whose name ends at one of these places read at that snapshot.

    A snapshot may have many names, but the later rules know it only by its id. A snapshot id at any other
    place becomes text: the query means it, but the rules must not take the table for one that they know.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT 1 FROM t VERSION AS OF 'audit' JOIN u ON TRUE", read="spark")
    >>> at_snapshots(tree, {15: 7}).sql("spark")
    'SELECT 1 FROM t VERSION AS OF 7 JOIN u ON TRUE'
    >>> sql = "SELECT 1 FROM t VERSION AS OF 7 JOIN t VERSION /* ! */ AS OF 7 AS u ON TRUE"
    >>> tree = parse_one(sql, read="spark")
    >>> at_snapshots(tree, {15: 7}).sql("spark", comments=False)
    "SELECT 1 FROM t VERSION AS OF 7 JOIN t VERSION AS OF '7' AS u ON TRUE"
    """
    if not snapshots:
        return tree
    copy = tree.copy()
    for table in list(copy.find_all(exp.Table)):
        for named in range(1, len(table.parts) + 1):
            snapshot_id = snapshots.get(table.parts[named - 1].meta.get("end", -1) + 1)
            if snapshot_id is not None:
                _cut(table, named)
                table.set("version", at_snapshot(snapshot_id))
                break
        else:
            if snapshot_of(table) is not None:
                table.args["version"].expression.set("is_string", True)
    return copy


def _cut(table: exp.Table, named: int) -> None:
    """Keeps only the first `named` parts of the name, and the last one as the alias that columns use."""
    parts = table.parts
    if len(parts) > named and not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1].name, quoted=True)))
    for key, part in zip(("this", "db", "catalog"), [*parts[named - 1 :: -1], None, None], strict=False):
        table.set(key, part)


def at_snapshot(snapshot_id: int) -> exp.Version:
    """Returns the clause after a table's name that reads it at this snapshot."""
    return exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(snapshot_id))


def snapshot_of(table: exp.Table) -> int | None:
    """Returns the snapshot that a table is read at by its id; None for any other version, or none.

    >>> from sqlglot import parse_one
    >>> snapshot_of(parse_one("SELECT 1 FROM t VERSION AS OF 7", read="spark").find(exp.Table))
    7
    >>> snapshot_of(parse_one("SELECT 1 FROM t VERSION AS OF '7'", read="spark").find(exp.Table))
    """
    version = table.args.get("version")
    if not isinstance(version, exp.Version) or (version.name, version.text("kind")) != ("VERSION", "AS OF"):
        return None
    number = version.expression
    is_id = isinstance(number, exp.Literal) and not number.is_string and number.name.isdecimal()
    return int(number.name) if is_id else None
