"""From the tree of a query to one in which every column names its relation and every table its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify as qualify_names
from sqlglot.schema import MappingSchema

from service.model.tables import TableFacts, TableName

# Every relation of a SELECT is looked at with every other.
MAX_JOINS = 64
_METADATA_COLUMNS = {
    *("_file", "_pos", "_spec_id", "_partition", "_deleted", "_metadata"),
    *("_row_id", "_last_updated_sequence_number"),
}


def qualify(
    tree: exp.Query, tables: Mapping[TableName, TableFacts], catalog: str | None, schema: str | None
) -> exp.Query | None:
    """A copy with full names, in lower case as Spark compares them; None when a name cannot be resolved.

    >>> from sqlglot import parse_one
    >>> qualify(parse_one("SELECT 1 FROM t", read="spark"), {}, "lake", "tpcds").sql("spark")
    'SELECT 1 AS `1` FROM lake.tpcds.t AS t'
    """
    if not _is_understood(tree):
        return None
    known: dict[str, Any] = {}
    for name, facts in tables.items():
        columns = {each.name.lower(): "unknown" for each in facts.columns}
        if len(columns) == len(facts.columns):
            schemas = known.setdefault(name.catalog.lower(), {})
            schemas.setdefault(name.schema.lower(), {})[name.table.lower()] = columns
    try:
        qualified = qualify_names(
            tree.copy(),
            dialect="spark",
            schema=MappingSchema(known, dialect="spark", normalize=False),
            catalog=catalog,
            db=schema,
            validate_qualify_columns=False,
            identify=False,
            # To Spark a name in WHERE is never one that SELECT gives.
            expand_alias_refs=False,
        )
    except (SqlglotError, RecursionError):
        return None
    return qualified if isinstance(qualified, exp.Query) else None


def _is_understood(tree: exp.Query) -> bool:
    """Whether names mean here what they mean to Spark."""
    joins = list(tree.find_all(exp.Join))
    # After these the column of USING is not the first relation's, as the qualifier takes it to be.
    adds_rows = any(each.side in ("RIGHT", "FULL") for each in joins)
    has_shared_columns = any(each.args.get("using") or each.method == "NATURAL" for each in joins)
    # The columns of such a table have other names than the table's own.
    has_renamed_columns = any(each.alias_column_names for each in tree.find_all(exp.Table))
    # A narrowed table is a SELECT of its own, which has none of these; another relation may.
    reads_metadata = any(each.name.lower() in _METADATA_COLUMNS for each in tree.find_all(exp.Column))
    are_names_unique = all(_has_unique_names(each) for each in tree.find_all(exp.Select))
    is_wide = any(len(each.args.get("joins") or ()) > MAX_JOINS for each in tree.find_all(exp.Select))
    if reads_metadata or has_renamed_columns or is_wide:
        return False
    return are_names_unique and not (adds_rows and has_shared_columns)


def _has_unique_names(select: exp.Select) -> bool:
    """Whether each relation has a name of its own: the right side of a LEFT SEMI JOIN may share one."""
    first = select.args.get("from_")
    relations = [*([] if first is None else [first]), *(select.args.get("joins") or ())]
    names = [name for each in relations if (name := each.alias_or_name.lower())]
    return len(names) == len(set(names))
