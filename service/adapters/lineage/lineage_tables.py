"""Facts about tables for events, read from the catalogs by the thread that builds the events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cachetools import TTLCache

from service.model.tables.tables import (
    NOW,
    TableAt,
    TableColumn,
    TableFacts,
    TableName,
    TableVersion,
    VersionKind,
)
from service.ports.tables.catalogs import Catalogs

Read = tuple[TableName, int | None]
"""A table, and the snapshot that was read or made."""

_TTL_S = 60.0
_MAX_CACHED_COLUMNS = 100_000
_COLUMNS_OF_AN_ENTRY = 10


@dataclass(frozen=True, slots=True)
class KnownTable:
    """The facts about a table that events contain."""

    columns: tuple[TableColumn, ...]
    location: str


class KnownTables:
    """Asks for a table at a snapshot at most once a minute. For one thread."""

    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs
        self._cached: TTLCache[Read, KnownTable] = TTLCache(_MAX_CACHED_COLUMNS, _TTL_S, getsizeof=_size)

    def of(self, reads: Iterable[Read]) -> Mapping[Read, KnownTable]:
        """Returns the tables for which the catalogs answer in time."""
        asked = list(dict.fromkeys(reads))
        known = {key: cached for key in asked if (cached := self._cached.get(key)) is not None}
        found = self._asked([key for key in asked if key not in known])
        for read, table in found.items():
            if _size(table) <= self._cached.maxsize:
                self._cached[read] = table
        return known | found

    def _asked(self, reads: list[Read]) -> dict[Read, KnownTable]:
        """The tables as they are now; those with another snapshot by now, as they were at theirs."""
        if not reads:
            return {}
        now = self._catalogs.facts_of([TableAt(name) for name, _ in reads])
        past = {
            (name, snapshot): TableAt(name, TableVersion(VersionKind.SNAPSHOT, snapshot))
            for name, snapshot in reads
            if snapshot is not None and _is_moved(now.get(TableAt(name, NOW)), snapshot)
        }
        then = self._catalogs.facts_of(list(past.values())) if past else {}
        found: dict[Read, KnownTable] = {}
        for read in reads:
            facts = (then.get(past[read]) if read in past else None) or now.get(TableAt(read[0], NOW))
            if facts is not None:
                found[read] = KnownTable(facts.columns, facts.location)
        return found


def _is_moved(facts: TableFacts | None, snapshot_id: int) -> bool:
    return facts is not None and facts.snapshot_id != snapshot_id


def _size(table: KnownTable) -> int:
    return _COLUMNS_OF_AN_ENTRY + len(table.columns)
