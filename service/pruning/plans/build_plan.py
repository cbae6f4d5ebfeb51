"""The plan of the build side that a filter's keys are collected from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from service.model.filters.dynamic_filter import Build
from service.model.filters.key_set import FilterSource
from service.model.query.explanation import PlanNode
from service.model.tables.tables import TableName
from service.pruning.plans.join_operator import ANY

_JOIN = PlanNode(ANY, (("joinType", ("InnerJoin",)),))
_UNION = PlanNode("Union", (("all", ("true",)),))
_QUALIFIER = re.compile(r"`|\b[a-z_]\w*\.(?=[a-z_`])")


def collector(build: Build, *, is_cached: bool) -> PlanNode:
    """Returns the node that yields the keys, over the plan of the build side; equal for equal key sets.

    `is_cached`: the keys had been collected before, and nothing below the node was read for them.
    Source: FLIP-248, `DynamicFilteringDataCollector`.
    """
    source = (("source", (FilterSource.CACHED.value,)),) if is_cached else ()
    fields = ("fields", build.columns)
    return PlanNode("DynamicFilteringDataCollector", (fields, *source), (build_plan(build),))


def build_plan(build: Build) -> PlanNode:
    """Returns the build side's tables, joined and filtered; those of several build sides as a union."""
    # A list of values reads no table.
    scans = tuple(table_scan(str(table)) for table in build.tables) or (PlanNode("Values"),)
    together = _UNION if build.is_union else _JOIN
    read = replace(together, children=scans) if len(scans) > 1 else scans[0]
    where = (("where", (build.predicate,)),)
    return PlanNode("Calc", where, (read,)) if build.predicate else read


def table_scan(table: str) -> PlanNode:
    """Returns the scan of a table by its full name.

    >>> table_scan("lake.tpcds.item").attributes
    (('table', ('lake', 'tpcds', 'item')),)
    """
    return PlanNode("TableSourceScan", (("table", tuple(table.split("."))),))


def is_built_by(build: Build, table: TableName, conditions: Sequence[str]) -> bool:
    """Whether the build side reads just this table under just these conditions.

    >>> dates = TableName("lake", "tpcds", "date_dim")
    >>> build = Build((dates,), ("d_date_sk",), "d_year = 2000 AND d_moy = 11", (1,))
    >>> is_built_by(build, dates, ["d.d_moy = 11", "d.d_year = 2000"])
    True
    """
    shown = [_plain(condition) for condition in conditions]
    # All characters are the same, and each condition is a part: these are the same conditions, in any order.
    is_whole = sorted(" and ".join(shown)) == sorted(_plain(build.predicate))
    return (
        is_whole
        and build.tables == (table,)
        and all(is_part_of(build, condition) for condition in conditions)
    )


def is_part_of(build: Build, condition: str) -> bool:
    """Whether the condition is one of those that filter the build side, however its columns are qualified."""
    return f" and {_plain(condition)} and " in f" and {_plain(build.predicate)} and "


def _plain(condition: str) -> str:
    return _QUALIFIER.sub("", condition.lower())
