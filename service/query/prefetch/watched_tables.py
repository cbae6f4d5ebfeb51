"""The states of tables, as they were when they were last looked at."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from service.model.tables.tables import TableAt, TableName
from service.ports.tables.catalogs import Catalogs


class WatchedTables:
    """Notices commits. For one thread at a time."""

    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs
        self._seen: dict[TableName, tuple[UUID, int]] = {}

    def changed(self, names: Iterable[TableName]) -> list[TableName]:
        """Returns those tables whose snapshot is another one than at the last look, in their order.

        A table that is looked at for the first time counts as changed. One whose catalog does not answer is
        left out, as is one without a snapshot. Tables that are no longer asked about are forgotten.
        """
        asked = list(dict.fromkeys(names))
        facts = self._catalogs.facts_of([TableAt(name) for name in asked]) if asked else {}
        seen = {name: self._seen[name] for name in asked if name in self._seen}
        changed: list[TableName] = []
        for name in asked:
            found = facts.get(TableAt(name))
            if found is None or found.snapshot_id is None:
                continue
            state = (found.table_uuid, found.snapshot_id)
            if seen.get(name) != state:
                changed.append(name)
            seen[name] = state
        self._seen = seen
        return changed
