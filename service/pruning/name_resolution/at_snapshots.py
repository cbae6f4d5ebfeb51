"""The versions of a query's tables as the snapshots that they are."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp


def at_snapshots(tree: exp.Query, snapshots: Mapping[int, int]) -> exp.Query:
    """The tree with the tables whose name ends at one of these places in the text read at that snapshot.

    One snapshot has many names; to the rules that follow it has one. An id of any other place is made text:
    the query means it, but the rules must not take the table for one that they know.

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
    """Leaves only so many parts of the name, but what columns know the table by."""
    parts = table.parts
    if len(parts) > named and not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1].name, quoted=True)))
    for key, part in zip(("this", "db", "catalog"), [*parts[named - 1 :: -1], None, None], strict=False):
        table.set(key, part)


def at_snapshot(snapshot_id: int) -> exp.Version:
    """What stands behind a table's name so that it is read at this snapshot."""
    return exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(snapshot_id))


def snapshot_of(table: exp.Table) -> int | None:
    """The snapshot that a table is read at; None when that is said in any other way.

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
