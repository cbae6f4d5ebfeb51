"""Chained filters: which keys may filter the tables that another filter's keys are collected from?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sqlglot import exp

from service.model.filters.joins import ColumnOf, JoinGraph
from service.pruning.build_side.build_query import BuildQuery, build_query
from service.pruning.join_graph.known_tables import KnownTables
from service.pruning.scan_layout.accepted_columns import accepted_columns

# A build side has a fact or two; to look for more costs more than the filters save.
MAX_FEEDS = 2


def feeding(
    graph: JoinGraph, query: BuildQuery, allowed: frozenset[str], known: KnownTables
) -> Iterator[tuple[ColumnOf, BuildQuery, str]]:
    """Yields columns of tables in the query for keys, each with the query for what it equals, and its type.

    Those keys come from other tables of the same query, so it yields the same with and without the filters.
    """
    for fed, by, type_name in islice(_fed_columns(graph, query, known), MAX_FEEDS):
        others = allowed & query.aliases.keys() - {fed.relation}
        keys = build_query(graph, [by], others, known.facts)
        if keys is not None:
            yield fed, keys, type_name


def _fed_columns(
    graph: JoinGraph, query: BuildQuery, known: KnownTables
) -> Iterator[tuple[ColumnOf, ColumnOf, str]]:
    """Yields columns by which tables of the query may be filtered, what they equal, and their types."""
    family = known.family_in(graph)
    for pair in graph.equalities if len(query.aliases) > 1 else ():
        for fed, by in (pair, pair[::-1]):
            table = graph.relations.get(fed.relation)
            is_read = {fed.relation, by.relation} <= query.aliases.keys()
            facts = known.facts(table) if is_read and isinstance(table, exp.Table) else None
            if facts is None or fed.column not in accepted_columns(facts):
                continue
            type_name = known.type_name(graph, fed)
            if type_name is not None and family(fed) == family(by) is not None:
                yield fed, by, type_name
