"""A dynamic filter: the scan that it prunes, and the query that its keys come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from service.model.filters.key_selection import KeyFamily
from service.model.tables.tables import TableName


class JoinType(StrEnum):
    """The join of probe and build, with the probe named first; NONE: no join that is supported."""

    INNER = "INNER"
    LEFT_OUTER = "LEFT_OUTER"
    RIGHT_OUTER = "RIGHT_OUTER"
    LEFT_SEMI = "LEFT_SEMI"
    LEFT_ANTI = "LEFT_ANTI"
    FULL_OUTER = "FULL_OUTER"
    NONE = "NONE"


class KeySpan(StrEnum):
    """The values of the probe's column that one key covers.

    `DAY` covers the moments of that day in UTC; moments without a zone are taken as they stand.
    `DAY_ANYWHERE` covers the moments of that day in any zone.
    """

    VALUE = "VALUE"
    DAY = "DAY"
    DAY_ANYWHERE = "DAY_ANYWHERE"


@dataclass(frozen=True, slots=True)
class Probe:
    """The scan that may be pruned, with its key columns as the table spells them.

    `type_names` are Iceberg's (`int`, `decimal(7, 2)`). `table_reference` is the ordinal of the table
    reference in the text with its views expanded, counted from 1; `alias` is the table's name there. They are
    None and empty where no single table reference applies, and in records of earlier versions.
    """

    table: TableName
    columns: tuple[str, ...]
    type_names: tuple[str, ...]
    snapshot_id: int | None
    alias: str = ""
    table_reference: int | None = None

    @property
    def known_as(self) -> str:
        """The table, and the text's name for it where that is another one, for people.

        >>> Probe(TableName("lake", "shop", "sales"), ("day",), ("date",), 1, "f", 1).known_as
        'lake.shop.sales AS f'
        """
        is_renamed = self.alias.lower() not in ("", self.table.table.lower())
        return f"{self.table} AS {self.alias}" if is_renamed else str(self.table)


@dataclass(frozen=True, slots=True)
class Build:
    """The tables that the keys are collected from, for people; snapshots are in the order of the tables.

    The tables are joined, unless `is_union`: then the keys of several build sides are combined.
    `is_restricted`: policies hide rows or values of a table, so only the engine may read it.
    """

    tables: tuple[TableName, ...]
    columns: tuple[str, ...]
    predicate: str
    snapshot_ids: tuple[int | None, ...]
    is_union: bool = False
    is_restricted: bool = False

    @property
    def snapshots(self) -> Mapping[TableName, int] | None:
        """The snapshot of each table; None if a table has none, or is read at several."""
        found = dict(zip(self.tables, self.snapshot_ids, strict=True))
        of_all = {table: at for table, at in found.items() if at is not None}
        are_clear = len(set(zip(self.tables, self.snapshot_ids, strict=True))) == len(of_all)
        return of_all if are_clear else None


@dataclass(frozen=True, slots=True)
class KeyDependency:
    """The keys of another filter that hold for `column` of a table in a filtering query.

    Every row of that query already has such a key, so the query yields the same with and without them. The
    other filter is the one with this `fingerprint`, if the caller's query has it.
    """

    fingerprint: str
    alias: str
    column: str
    type_name: str


@dataclass(frozen=True, slots=True)
class DynamicFilter:
    """One filter that may be applied.

    `filtering_query` yields the distinct keys, one column for each probe column, in `key_types` (the probe's,
    if not given). It reads every table at the snapshot in `build`, and needs `parameter_names` of the query's
    named parameters.

    `fingerprint` is the same for two filters exactly when their keys are: it is the address of the keys in
    the filter cache. `is_converted`: the keys are not the build column's own values, but converted ones; for
    example, a key is the day of a moment, not a moment of that day. `is_null_safe`: NULL equals NULL (`<=>`),
    so the query yields a NULL like any other key. `series` is the fingerprint without the snapshots: filters
    of one series ask for the same keys at different times. Empty: the filter is of none. Filters of one
    `family` ask for keys of one table under different conditions.

    Source: Trino's `DynamicFilterService.Descriptor`, Spark's `filteringPlan`.
    """

    filter_id: str
    join_type: JoinType
    probe: Probe
    build: Build
    filtering_query: str
    fingerprint: str
    parameter_names: frozenset[str] = frozenset()
    collected_types: tuple[str, ...] = ()
    span: KeySpan = KeySpan.VALUE
    is_converted: bool = False
    key_dependencies: tuple[KeyDependency, ...] = ()
    is_null_safe: bool = False
    series: str = ""
    family: KeyFamily | None = None

    @property
    def is_cacheable(self) -> bool:
        """Whether the keys can never change: every table that they come from is read at a snapshot."""
        return None not in self.build.snapshot_ids

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of the keys as they are collected and cached, in Iceberg's spelling."""
        return self.collected_types or self.probe.type_names
