"""From the tree of a query to one in which every column names its relation and every table its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify as qualify_names
from sqlglot.schema import MappingSchema

from service.model.tables.tables import TableAt, TableFacts
from service.pruning.name_resolution.at_snapshots import snapshot_of
from service.pruning.name_resolution.is_understood import is_named_by_place, is_understood, shares_columns
from service.pruning.name_resolution.join_trees import is_parenthesis
from service.pruning.name_resolution.unnamed_columns import name_unnamed

_NEEDS_ALL = "needs_all_columns"


def qualify(
    tree: exp.Query, tables: Mapping[TableAt, TableFacts], catalog: str | None, schema: str | None
) -> exp.Query | None:
    """A copy with full names, in lower case as Spark compares them; None when a name cannot be resolved.

    No column of the tree names its table by a path: behind the second part of a name are fields of a struct.

    A table at another version may have other columns: it is told by its snapshot's id, and unknown when it
    is asked for in any other way.

    >>> from sqlglot import parse_one
    >>> qualify(parse_one("SELECT 1 FROM t", read="spark"), {}, "lake", "tpcds").sql("spark")
    'SELECT 1 AS `1` FROM lake.tpcds.t AS t'
    """
    if not is_understood(tree):
        return None
    copy = tree.copy()
    _open_parentheses(copy)
    _tell_fields(copy)
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
            # To Spark a name in WHERE is never one that SELECT gives.
            expand_alias_refs=False,
        )
    except (SqlglotError, RecursionError, AssertionError):
        # The last is what it says of a place in ORDER BY or GROUP BY that counts columns which are not known.
        return None
    _put_back(qualified, versions)
    return qualified


def needs_all_columns(select: exp.Expr) -> bool:
    """Whether the columns of all of its relations must have been known for it to be qualified rightly.

    By USING, NATURAL or a star it named columns of which a qualified SELECT has but the names.
    """
    return bool(select.meta.get(_NEEDS_ALL))


def _open_parentheses(tree: exp.Query) -> None:
    """Takes joins out of parentheses where that changes nothing.

    Those with a name are a SELECT of all columns: nothing inside is seen outside. Those at the left end are
    joined first anyhow.
    """
    for each in list(tree.find_all(exp.Subquery)):
        inner = each.this
        if each.alias and isinstance(inner, exp.Table | exp.Subquery) and _is_of_joins(inner):
            each.set("this", exp.select("*").from_(inner.copy(), copy=False))
    for select in tree.find_all(exp.Select):
        first = select.args.get("from_")
        while first is not None and is_parenthesis(first.this):
            inner, joins = first.this.this, first.this.args.get("joins") or []
            joins = [*(inner.args.get("joins") or ()), *joins, *(select.args.get("joins") or ())]
            inner.set("joins", None)
            first.set("this", inner)
            select.set("joins", joins)


def _is_of_joins(relation: exp.Expr) -> bool:
    """Whether what stands in parentheses is no query."""
    return not isinstance(relation.unnest(), exp.Select | exp.SetOperation) or bool(
        relation.args.get("joins")
    )


def _mark(tree: exp.Query) -> None:
    for select in tree.find_all(exp.Select):
        if shares_columns(select) or is_named_by_place(select):
            select.meta[_NEEDS_ALL] = True


def _tell_fields(tree: exp.Query) -> None:
    """Makes `f.place.city` a field of the column `f.place`; to the parser it is a column of a table `place`.

    A relation of that name would be taken for its table.
    """
    for column in list(tree.find_all(exp.Column)):
        relation, name, *fields = column.parts if column.args.get("db") else [None, None]
        if fields and not column.is_star:
            column.replace(exp.Dot.build([exp.Column(this=name, table=relation), *fields]))


def _columns(tables: Mapping[TableAt, TableFacts]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for table, facts in tables.items():
        columns = {each.name.lower(): "unknown" for each in facts.columns}
        if len(columns) == len(facts.columns):
            schemas = known.setdefault(table.name.catalog.lower(), {})
            label = table.name.table.lower() + _label(table.version.value)
            schemas.setdefault(table.name.schema.lower(), {})[label] = columns
    return known


def _label(version: object) -> str:
    # No name that a query can give a table has it.
    return f"\n{version}" if version != "" else ""


def _set_aside(tree: exp.Query) -> Mapping[str, exp.Table]:
    """Names each version of a table as a table of its own: what it was, by the new name."""
    versions: dict[str, exp.Table] = {}
    for table in list(tree.find_all(exp.Table)):
        version = table.args.get("version")
        if version is None or not isinstance(table.this, exp.Identifier):
            continue
        if not table.alias:
            # Columns know it by its own name.
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
