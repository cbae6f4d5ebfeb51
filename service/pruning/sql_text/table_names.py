"""Which tables does a query name?"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableName


def table_names(
    parsed: ParsedQuery, catalogs: frozenset[str], catalog: str | None, schema: str | None
) -> Mapping[int, TableAt]:
    """Returns each table's full name with its version, by the place where the name ends in the text.

    Names of common table expressions are left out, and so are names that could be a path of several schemas,
    and tables with a version that is not supported.

    >>> from service.pruning.sql_text.parse import parse
    >>> parsed = parse("WITH c AS (SELECT 1) SELECT * FROM c, item, rest.shop.goods")
    >>> names = table_names(parsed, frozenset({"lake", "rest"}), "lake", "tpcds")
    >>> [(end, str(table.name)) for end, table in names.items()]
    [(42, 'lake.tpcds.item'), (59, 'rest.shop.goods')]
    """
    common = {cte.alias.lower() for cte in parsed.tree.find_all(exp.CTE)}
    found: dict[int, TableAt] = {}
    for reference in parsed.references:
        match reference.parts:
            case (table,) if catalog and schema and table.lower() not in common:
                name = TableName(catalog, schema, table)
            case (database, table) if catalog and database not in catalogs:
                name = TableName(catalog, database, table)
            case (first, database, table) if first in catalogs:
                name = TableName(first, database, table)
            case _:
                continue
        if reference.has_known_version:
            found[reference.end] = TableAt(name, reference.version, _unless(name, reference.selector))
    return found


def _unless(name: TableName, selector: str | None) -> TableName | None:
    return None if selector is None else TableName(name.catalog, f"{name.schema}.{name.table}", selector)
