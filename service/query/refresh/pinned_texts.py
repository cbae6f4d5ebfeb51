"""Texts that read tables at chosen snapshots, or the files that were added between two."""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.tables import TableName
from service.ports.bounded_calls import Answer
from service.pruning.sql_text.inject import TableSubstitution, inject
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names


def pinned_sql(
    _: Answer,
    sql: str,
    catalogs: frozenset[str],
    within: tuple[str | None, str | None],
    snapshots: Mapping[TableName, int],
) -> str | None:
    """Returns the text that reads each table at its snapshot, for `BoundedCalls`; None if it cannot."""
    parsed = parse(sql)
    if parsed is None:
        return None
    names = table_names(parsed, catalogs, *within)
    known = {name.in_lower_case(): snapshot_id for name, snapshot_id in snapshots.items()}
    pins = {
        end: TableSubstitution(known[table.name.in_lower_case()])
        for end, table in names.items()
        if table.name.in_lower_case() in known
    }
    return inject(parsed, pins) if len(pins) == len(parsed.references) else None


def added_sql(sql: str, since: int, until: int) -> str:
    """Returns the text that reads, in place of the snapshot `until`, the files added after `since`.

    Raises:
        NotRefreshable: the text does not name that snapshot exactly once.

    >>> added_sql("SELECT sum(a) FROM t VERSION AS OF 8", 5, 8)
    "SELECT sum(a) FROM t WITH (`end-snapshot-id`='8', `start-snapshot-id`='5')"
    >>> added_sql("SELECT sum(a) FROM t VERSION AS OF 8 WITH (`split-size`='9')", 5, 8)
    "SELECT sum(a) FROM t WITH (`end-snapshot-id`='8', `start-snapshot-id`='5', `split-size`='9')"
    """
    options = f"`end-snapshot-id`='{until}', `start-snapshot-id`='{since}'"
    found = re.findall(rf"(?<!\d){until}(?!\d)", sql)
    text, count = re.subn(rf"VERSION AS OF {until}(?!\d) WITH \(", f"WITH ({options}, ", sql)
    if count == 0:
        text, count = re.subn(rf"VERSION AS OF {until}(?!\d)", f"WITH ({options})", sql)
    if count != 1 or len(found) != 1:
        raise NotRefreshable(RefreshOutcome.TABLES)
    return text
