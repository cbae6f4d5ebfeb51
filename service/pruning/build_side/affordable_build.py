"""Which relations may keys come from, so that collecting them costs less than it may save?"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from service.model.filters.joins import ColumnOf, InlineTable, JoinGraph, Relation
from service.model.tables.tables import TableFacts
from service.pruning.build_side.build_query import FactsOf, build_relations
from service.pruning.scan_layout.is_worth_collecting import LARGEST_BUILD_SHARE, reading_cost


def affordable_build(
    graph: JoinGraph, key: ColumnOf, allowed: frozenset[str], probe: TableFacts, facts_of: FactsOf
) -> frozenset[str] | None:
    """Returns `allowed` without the relations that make the build side too expensive for the probe.

    None where it is not too expensive as it is, or where nothing filters the relations that are left. If, for
    example, a calendar is joined to itself and to another fact, the fact may go and the calendar's condition
    stays. Fewer relations give more keys, never fewer.
    """
    limit = reading_cost(probe) * LARGEST_BUILD_SHARE
    left = allowed
    while needed := build_relations(graph, [key], left):
        costs = {name: sum(map(reading_cost, _tables(graph.relations[name], facts_of))) for name in needed}
        if sum(costs.values()) <= limit:
            return left if left != allowed else None
        others = needed - {key.relation}
        if not others:
            return None
        left -= {max(others, key=lambda name: (costs[name], name))}
    return None


def _tables(relation: Relation, facts_of: FactsOf) -> Iterable[TableFacts]:
    match relation:
        case exp.Table():
            read: Iterable[exp.Table] = (relation,)
        case InlineTable():
            read = relation.query.find_all(exp.Table)
        case _:
            read = ()
    return (facts for table in read if (facts := facts_of(table)) is not None)
