"""From the tree of a query to one in which every column names its relation and every table its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify as qualify_names
from sqlglot.schema import MappingSchema

from service.model.tables import TableFacts, TableName


def qualify(
    tree: exp.Query, tables: Mapping[TableName, TableFacts], catalog: str | None, schema: str | None
) -> exp.Query | None:
    """A copy with full names, in lower case as Spark compares them; None when a name cannot be resolved.

    >>> from sqlglot import parse_one
    >>> qualify(parse_one("SELECT 1 FROM t", read="spark"), {}, "lake", "tpcds").sql("spark")
    'SELECT 1 AS `1` FROM lake.tpcds.t AS t'
    """
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
        )
    except (SqlglotError, RecursionError):
        return None
    return qualified if isinstance(qualified, exp.Query) else None
