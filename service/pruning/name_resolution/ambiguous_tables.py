"""Ambiguous tables: a query reads them at a snapshot in one place, and perhaps unpinned in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from sqlglot import exp

from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableName


def ambiguous_tables(
    tree: exp.Query, parsed: ParsedQuery, names: Mapping[int, TableAt]
) -> Collection[TableName]:
    """Returns the tables with several references of which some cannot be pinned; in lower case.

    A reference cannot be pinned if it has a sample, or if its name is a common table expression's elsewhere
    in the text. A reference at a version that the user chose always reads the same, so it does not count.

    `tree` has full names: see `qualify`.
    """
    sure_ends = {
        reference.end for reference in parsed.references if reference.is_plain and reference.end in names
    }
    reference_counts: Counter[TableName] = Counter()
    ambiguous: set[TableName] = set()
    for table in tree.find_all(exp.Table):
        if not table.catalog or table.args.get("version"):
            continue
        name = TableName(table.catalog, table.db, table.name).in_lower_case()
        reference_counts[name] += 1
        if table.this.meta.get("end", -1) + 1 not in sure_ends:
            ambiguous.add(name)
    return {table for table in ambiguous if reference_counts[table] > 1}
