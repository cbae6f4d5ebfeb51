"""Tables that a query reads in one place as they were, and might read in another as they are by then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from sqlglot import exp

from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableName


def unsure_tables(
    tree: exp.Query, parsed: ParsedQuery, names: Mapping[int, TableAt]
) -> Collection[TableName]:
    """Those with several mentions, of which not every one can be told a snapshot; in lower case.

    A sample is one such place, and a name that is a common table expression's elsewhere in the text. What the
    user asks for at a version of his choice is the same whatever happens.

    `tree` has full names: see `qualify`.
    """
    sure_ends = {each.end for each in parsed.references if each.is_plain and each.end in names}
    mentions: Counter[TableName] = Counter()
    unsure: set[TableName] = set()
    for table in tree.find_all(exp.Table):
        if not table.catalog or table.args.get("version"):
            continue
        name = TableName(table.catalog, table.db, table.name).in_lower_case()
        mentions[name] += 1
        if table.this.meta.get("end", -1) + 1 not in sure_ends:
            unsure.add(name)
    return {each for each in unsure if mentions[each] > 1}
