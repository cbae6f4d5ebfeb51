"""Qualifies a query's tree: every column names its relation, and every table its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify as qualify_names
from sqlglot.schema import MappingSchema

from service.model.tables.tables import TableAt, TableFacts
from service.pruning.name_resolution.at_snapshots import snapshot_of
from service.pruning.name_resolution.is_supported_syntax import (
    is_named_by_place,
    is_supported_syntax,
    shares_columns,
)
from service.pruning.name_resolution.join_trees import is_parenthesis
from service.pruning.name_resolution.unnamed_columns import name_unnamed

_NEEDS_ALL = "needs_all_columns"


def qualify(
    tree: exp.Query, tables: Mapping[TableAt, TableFacts], catalog: str | None, schema: str | None
) -> exp.Query | None:
    """Returns a copy with full names, in lower case as Spark compares them; None if one cannot be resolved.

    No column of the tree names its table by a path: after the second part of a name are fields of a struct.

    A table at another version may have other columns. It is known by its snapshot's id, and unknown if the
    query asks for the version in any other way.

    >>> from sqlglot import parse_one
    >>> qualify(parse_one("SELECT 1 FROM t", read="spark"), {}, "lake", "tpcds").sql("spark")
    'SELECT 1 AS `1` FROM lake.tpcds.t AS t'
    """
    if not is_supported_syntax(tree):
        return None
    copy = tree.copy()
    _open_parentheses(copy)
    _qualify_fields(copy)
    _mark(copy)
    name_unnamed(copy)
    versions = _set_aside(copy)
    try:
        qualified = qualify_names(
            copy,
            dialect="spark",
            schema=MappingSchema(_columns(tables), dialect="spark", normalize=False),
            catalog=catalog,
            db=schema,
            validate_qualify_columns=False,
            identify=False,
            # To Spark, a name in WHERE is never an alias of the SELECT list.
            expand_alias_refs=False,
        )
    except (SqlglotError, RecursionError, AssertionError):
        # The qualifier raises the last for a position in ORDER BY or GROUP BY that counts unknown columns.
        return None
    _put_back(qualified, versions)
    return qualified


def needs_all_columns(select: exp.Expr) -> bool:
    """Whether the SELECT is qualified correctly only if the columns of all of its relations were known.

    It has USING, NATURAL or a star; once it is qualified, only the names of the columns are left of these.
    """
    return bool(select.meta.get(_NEEDS_ALL))


def _open_parentheses(tree: exp.Query) -> None:
    """Takes joins out of parentheses where that changes nothing.

    Parentheses with a name are a SELECT of all columns: nothing inside is visible outside. Joins in
    parentheses at the left end come first anyhow.
    """
    for subquery in list(tree.find_all(exp.Subquery)):
        inner = subquery.this
        if subquery.alias and isinstance(inner, exp.Table | exp.Subquery) and _is_of_joins(inner):
            subquery.set("this", exp.select("*").from_(inner.copy(), copy=False))
    for select in tree.find_all(exp.Select):
        first = select.args.get("from_")
        while first is not None and is_parenthesis(first.this):
            inner, joins = first.this.this, first.this.args.get("joins") or []
            joins = [*(inner.args.get("joins") or ()), *joins, *(select.args.get("joins") or ())]
            inner.set("joins", None)
            first.set("this", inner)
            select.set("joins", joins)


def _is_of_joins(relation: exp.Expr) -> bool:
    """Whether tables or joins are in the parentheses, and not a query."""
    return not isinstance(relation.unnest(), exp.Select | exp.SetOperation) or bool(
        relation.args.get("joins")
    )


def _mark(tree: exp.Query) -> None:
    for select in tree.find_all(exp.Select):
        if shares_columns(select) or is_named_by_place(select):
            select.meta[_NEEDS_ALL] = True


def _qualify_fields(tree: exp.Query) -> None:
    """Makes `f.place.city` a field of the column `f.place`; to the parser it is a column of a table `place`.

    The qualifier would take a relation of that name for the table.
    """
    for column in list(tree.find_all(exp.Column)):
        relation, name, *fields = column.parts if column.args.get("db") else [None, None]
        if fields and not column.is_star:
            column.replace(exp.Dot.build([exp.Column(this=name, table=relation), *fields]))


def _columns(tables: Mapping[TableAt, TableFacts]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for table, facts in tables.items():
        columns = {column.name.lower(): "unknown" for column in facts.columns}
        if len(columns) == len(facts.columns):
            schemas = known.setdefault(table.name.catalog.lower(), {})
            label = table.name.table.lower() + _label(table.version.value)
            schemas.setdefault(table.name.schema.lower(), {})[label] = columns
    return known


def _label(version: object) -> str:
    # No name that a query can give a table has a line break.
    return f"\n{version}" if version != "" else ""


def _set_aside(tree: exp.Query) -> Mapping[str, exp.Table]:
    """Renames each version of a table to a table of its own; returns the old tables by the new names."""
    versions: dict[str, exp.Table] = {}
    for table in list(tree.find_all(exp.Table)):
        version = table.args.get("version")
        if version is None or not isinstance(table.this, exp.Identifier):
            continue
        if not table.alias:
            # Columns use the table's own name.
            alias = exp.to_identifier(table.name, quoted=table.this.quoted)
            table.set("alias", exp.TableAlias(this=alias))
        snapshot_id = snapshot_of(table)
        name = table.name.lower() + _label(f"{len(versions)}?" if snapshot_id is None else snapshot_id)
        versions[name] = table.copy()
        table.this.set("this", name)
        table.set("version", None)
    return versions


def _put_back(tree: exp.Query, versions: Mapping[str, exp.Table]) -> None:
    for table in tree.find_all(exp.Table):
        before = versions.get(table.name)
        if before is not None:
            table.this.set("this", before.name.lower())
            table.this.set("quoted", before.this.quoted)
            table.set("version", before.args["version"].copy())
