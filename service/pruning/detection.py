"""The input and the result of detection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.filter_record import FilterRecord
from service.model.query.query import Parameters
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.rewrites.redundant_joins import RedundantJoin


@dataclass(frozen=True, slots=True)
class FilterAssignment:
    """A filter, and where the name of its table reference ends in the text.

    `is_shared`: several places read the filtered rows, and each may need fewer. `is_whole`: the engine, which
    knows the whole query, could find no fewer keys where it prunes by the same join. `is_in_union`: a branch
    of a union reads the table; the engine may prune the other branches by its scan.
    """

    filter: DynamicFilter
    reference_end: int
    is_shared: bool = False
    is_whole: bool = False
    is_in_union: bool = False


@dataclass(frozen=True, slots=True)
class Detection:
    """The filters to collect, and the rejected candidates.

    `unfiltered` has a record for each reference to a known table that has no candidate. `relations` are the
    tables whose rows may be in memory; `redundant_joins` are the joins that a filter may make unnecessary.
    `ambiguous` are the ambiguous tables, by name in lower case: not every reference to them can be pinned to
    a snapshot. If the query `has_joining_subqueries`, the engine makes joins that the candidates do not
    cover. If it `has_filters_outside`, a SELECT filters the rows of another one.
    """

    assignments: tuple[FilterAssignment, ...]
    rejected: tuple[FilterRecord, ...]
    unfiltered: tuple[FilterRecord, ...] = ()
    relations: tuple[RelationAssignment, ...] = ()
    redundant_joins: tuple[RedundantJoin, ...] = ()
    ambiguous: frozenset[TableName] = frozenset()
    has_joining_subqueries: bool = False
    has_filters_outside: bool = False


@dataclass(frozen=True, slots=True)
class DetectionContext:
    """The facts that detection needs besides the tree.

    `tables` has the facts of tables by names in lower case, at a snapshot or as they are now. `is_clustered`
    returns whether a column's bounds differ enough from file to file for a filter on it to pay off;
    `clustering` says in words why they do not. Keys come from tables of at most `max_build_rows` rows, and
    rows in memory from tables of at most `max_fetched_rows`. `days` are the days that it may be, in the
    session's time zone, when the query runs; without them, conditions on the current day are left out.
    `is_keeping_rows`: rows may be kept with keys, so filters have families. `takes_whole_builds`: keys also
    come from tables that nothing filters.
    """

    tables: Mapping[TableAt, TableFacts]
    parameters: Parameters
    session: Mapping[str, str]
    max_build_rows: int
    is_clustered: Callable[[TableFacts, str], bool] = lambda _facts, _column: False
    clustering: Callable[[TableFacts, str], str] = lambda _facts, _column: ""
    days: tuple[date, ...] = ()
    is_named: Callable[[str], bool] = lambda _column: True
    max_relation_rows: int = 10_000
    max_fetched_rows: int = 5_000_000
    parsed: ParsedQuery | None = None
    is_keeping_rows: bool = False
    takes_whole_builds: bool = False
