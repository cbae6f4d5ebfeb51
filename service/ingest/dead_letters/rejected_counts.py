"""Counts the rejected records of each table, which are the rows of its dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.model.ingest.ingest_history import TableIngests
from service.model.tables.dead_letter_names import SUFFIX


def with_rejected_counts(
    tables: Iterable[TableIngests], dead_letters: Iterable[TableIngests]
) -> Sequence[TableIngests]:
    """Returns the tables in order of name, including those that got nothing but dead letters.

    >>> dead_letters = [TableIngests("lake.logs.events__dead_letter", record_count=3)]
    >>> [(commit.table, commit.rejected_record_count) for commit in with_rejected_counts([], dead_letters)]
    [('lake.logs.events', 3)]
    """
    found = {table.table: table for table in tables}
    for letter in dead_letters:
        name = letter.table.removesuffix(SUFFIX)
        if name != letter.table:
            own = found.get(name, TableIngests(name))
            found[name] = replace(own, rejected_record_count=letter.record_count)
    return [found[name] for name in sorted(found)]
