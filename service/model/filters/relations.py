"""Rows of small tables that the engine keeps in memory, so that queries need not read them again."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.filters.dynamic_filter import Build


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """The rows of one table that a query can need, at one snapshot.

    `sql` reads them, and needs `parameter_names` of the query's named parameters. `fingerprint` is the same
    for two exactly when their rows are. `wider` reads all rows of the same table, with the same columns; it
    is None if these are not known to be few, or are those that this query reads.
    """

    rows_of: Build
    sql: str
    fingerprint: str
    parameter_names: frozenset[str] = frozenset()
    wider: RelationQuery | None = None


@dataclass(frozen=True, slots=True)
class CachedRelation:
    """A relation that the engine caches in memory, and its size there."""

    fingerprint: str
    row_count: int
    byte_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationBounds:
    """The greatest size of a cached relation."""

    max_rows: int
    max_bytes: int
