"""Marks the table references whose rows a policy filters."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from service.model.filters.joins import HAS_ROW_FILTER
from service.model.tables.tables import TableAt, TableFacts


def mark_row_filters(tree: exp.Query, tables: Mapping[TableAt, TableFacts]) -> None:
    """Marks, in a qualified tree, each reference to a table with a row filter.

    Such a table holds only some rows, so its keys filter others even if the query has no condition on it.
    Every version of a table has the same policies.
    """
    filtered = {
        (table_at.name.catalog, table_at.name.schema, table_at.name.table)
        for table_at, facts in tables.items()
        if facts.restriction.row_filter is not None
    }
    if filtered:
        for table in tree.find_all(exp.Table):
            if (table.catalog, table.db, table.name) in filtered:
                table.meta[HAS_ROW_FILTER] = True
