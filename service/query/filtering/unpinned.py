"""Checks tables without snapshots: have they changed between the filter's read and the query's?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.tables.tables import TableAt, TableFacts, TableName, TableSource
from service.ports.tables.catalogs import Catalogs
from service.query.filtering.unpinned_references import UnpinnedReference, has_changed


@dataclass(frozen=True, slots=True)
class Unpinned:
    """A table as it was when filters were looked for. `is_build`: keys were collected from its files."""

    facts: TableFacts
    is_build: bool


@dataclass(frozen=True, slots=True)
class UnpinnedTables:
    """Tables that a rewritten text reads in their current state: the `filtered` ones, if it has a filter.

    `references` are all unpinned references of a query that is verified. `behind_views` are pinned, but
    unexpanded views may read them once more, in their current state.
    """

    filtered: tuple[Unpinned, ...] = ()
    references: tuple[UnpinnedReference, ...] = ()
    behind_views: tuple[TableFacts, ...] = ()


def unpinned(filters: Iterable[DynamicFilter], facts: Mapping[TableAt, TableFacts]) -> tuple[Unpinned, ...]:
    """Returns the query's tables that cannot be read in an earlier state; none, if it has no filter."""
    builds: set[TableName] = set()
    has_filter = False
    for filter_ in filters:
        builds |= set(filter_.build.tables)
        has_filter = True
    used = {
        fact.name: fact for fact in facts.values() if has_filter and fact.source is not TableSource.ICEBERG
    }
    return tuple(Unpinned(fact, name in builds) for name, fact in used.items())


def has_moved(tables: UnpinnedTables, catalogs: Catalogs) -> bool:
    """Whether keys may be missing by now: a file of a build side, or a column's type, has changed.

    New files of a table that was only filtered do no harm: the query still asks for the same keys. A table
    that a view may have read beside a pinned reference must be unchanged.
    """
    try:
        read_by_views = [UnpinnedReference(TableAt(view.name), view) for view in tables.behind_views]
        return has_changed(read_by_views, catalogs) or any(
            _has_moved(filtered, catalogs) for filtered in tables.filtered
        )
    except (TableNotFound, CatalogDown):
        return True


def _has_moved(table: Unpinned, catalogs: Catalogs) -> bool:
    before = table.facts
    if table.is_build:
        return catalogs.facts(before.name).table_uuid != before.table_uuid
    asked = TableAt(before.name)
    now = catalogs.facts_of([asked]).get(asked)
    return now is None or now.schema_id != before.schema_id
