"""Which tables does a query mention?"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from service.model.sql import ParsedQuery
from service.model.tables import TableName


def table_names(
    parsed: ParsedQuery, catalogs: frozenset[str], catalog: str | None, schema: str | None
) -> Mapping[tuple[str, ...], TableName]:
    """Each table's parts as they are written, with its full name.

    Names that a common table expression takes are left out, and those that could be a path of several
    schemas.

    >>> from service.pruning.parse import parse
    >>> parsed = parse("WITH c AS (SELECT 1) SELECT * FROM c, item, rest.shop.goods")
    >>> [str(each) for each in table_names(parsed, frozenset({"lake", "rest"}), "lake", "tpcds").values()]
    ['lake.tpcds.item', 'rest.shop.goods']
    """
    common = {each.alias.lower() for each in parsed.tree.find_all(exp.CTE)}
    found: dict[tuple[str, ...], TableName] = {}
    for reference in parsed.references:
        match reference.parts:
            case (table,) if catalog and schema and table.lower() not in common:
                found[reference.parts] = TableName(catalog, schema, table)
            case (database, table) if catalog and database not in catalogs:
                found[reference.parts] = TableName(catalog, database, table)
            case (first, database, table) if first in catalogs:
                found[reference.parts] = TableName(first, database, table)
            case _:
                continue
    return found
