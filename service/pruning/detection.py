"""What detection is asked by, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from service.model.filters.filtering import DynamicFilter, FilterRecord
from service.model.query.query import Parameters
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.pruning.rewrites.droppable_joins import DroppableJoin
from service.pruning.rewrites.local_relations import RelationPlacement


@dataclass(frozen=True, slots=True)
class Placement:
    """A filter, and where in the text the name of the table that it narrows ends.

    `is_shared`: what it narrows is read in several places, each of which may ask for less. `is_whole`: the
    engine, which knows the whole query, could find no fewer keys where it prunes by the same join.
    `is_in_union`: a branch of a union reads the table; the engine may prune the other branches by its scan.
    """

    filter: DynamicFilter
    reference_end: int
    is_shared: bool = False
    is_whole: bool = False
    is_in_union: bool = False


@dataclass(frozen=True, slots=True)
class Detection:
    """The filters to collect, and the candidates that are none.

    `left_out` has a record for each mention of a known table that no candidate is on. `relations` are the
    tables whose rows may be in memory, `droppable` the joins that a filter may stand for. `unsure` are the
    tables, by names in lower case, that cannot be told a snapshot wherever they are read. Where the query
    `has_joining_subqueries`, the engine joins by more than the candidates are made of.
    """

    placements: tuple[Placement, ...]
    refused: tuple[FilterRecord, ...]
    left_out: tuple[FilterRecord, ...] = ()
    relations: tuple[RelationPlacement, ...] = ()
    droppable: tuple[DroppableJoin, ...] = ()
    unsure: frozenset[TableName] = frozenset()
    has_joining_subqueries: bool = False


@dataclass(frozen=True, slots=True)
class DetectionContext:
    """What detection knows besides the tree. Keys of `tables` are names in lower case, at snapshots or now.

    `is_tight` tells whether the bounds of a column differ so from file to file that a filter on it pays, and
    `clustering` in words why they do not.
    Keys come from tables of `max_build_rows`, rows in memory from those of `max_fetched_rows` at most. `days`
    are those that it may be for the session when the query runs; conditions on the current day are
    left out if there are none.
    """

    tables: Mapping[TableAt, TableFacts]
    parameters: Parameters
    session: Mapping[str, str]
    max_build_rows: int
    is_tight: Callable[[TableFacts, str], bool] = lambda _facts, _column: False
    clustering: Callable[[TableFacts, str], str] = lambda _facts, _column: ""
    days: tuple[date, ...] = ()
    is_named: Callable[[str], bool] = lambda _column: True
    max_relation_rows: int = 10_000
    max_fetched_rows: int = 5_000_000
    parsed: ParsedQuery | None = None
