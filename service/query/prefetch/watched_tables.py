"""The states of tables, as they were when they were last looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import islice
from uuid import UUID

from service.model.tables.tables import TableAt, TableFacts, TableName
from service.ports.tables.catalogs import Catalogs

ASKED_AT_ONCE = 8
"""A catalog answers a bounded number of questions at once, and queries need it sooner."""


class WatchedTables:
    """Notices commits. For one thread at a time."""

    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs
        self._seen: dict[TableName, tuple[UUID, int]] = {}

    def changed(self, names: Iterable[TableName], among: Set[TableName] | None = None) -> list[TableName]:
        """Returns those tables whose snapshot is another one than at the last look, in their order.

        A table that is looked at for the first time counts as changed. One whose catalog does not answer is
        left out, as is one without a snapshot. Tables that are no longer asked about are forgotten. With
        `among`, in lower case, it looks at no others.
        """
        asked = list(dict.fromkeys(names))
        seen = {name: self._seen[name] for name in asked if name in self._seen}
        changed: list[TableName] = []
        looked_at = (name for name in asked if among is None or name.in_lower_case() in among)
        for name, found in self._facts(looked_at):
            if found.snapshot_id is None:
                continue
            state = (found.table_uuid, found.snapshot_id)
            if seen.get(name) != state:
                changed.append(name)
            seen[name] = state
        self._seen = seen
        return changed

    def forget(self, names: Set[TableName]) -> None:
        """Makes these tables, by names in lower case, count as changed at the next look."""
        self._seen = {name: seen for name, seen in self._seen.items() if name.in_lower_case() not in names}

    def _facts(self, names: Iterable[TableName]) -> Iterator[tuple[TableName, TableFacts]]:
        left = iter(names)
        while some := [TableAt(name) for name in islice(left, ASKED_AT_ONCE)]:
            facts = self._catalogs.facts_of(some)
            yield from ((table.name, facts[table]) for table in some if table in facts)
