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
MAX_KEY_DEPENDENCIES = 2


def key_dependencies(
    graph: JoinGraph, query: BuildQuery, allowed: frozenset[str], known: KnownTables
) -> Iterator[tuple[ColumnOf, BuildQuery, str]]:
    """Yields columns of tables in the query for keys, each with the query for what it equals, and its type.

    Those keys come from other tables of the same query, so it yields the same with and without the filters.
    """
    for chained, by, type_name in islice(_chained_columns(graph, query, known), MAX_KEY_DEPENDENCIES):
        others = allowed & query.aliases.keys() - {chained.relation}
        keys = build_query(graph, [by], others, known.facts)
        if keys is not None:
            yield chained, keys, type_name


def _chained_columns(
    graph: JoinGraph, query: BuildQuery, known: KnownTables
) -> Iterator[tuple[ColumnOf, ColumnOf, str]]:
    """Yields columns by which tables of the query may be filtered, what they equal, and their types."""
    family = known.family_in(graph)
    for pair in graph.equalities if len(query.aliases) > 1 else ():
        for chained, by in (pair, pair[::-1]):
            table = graph.relations.get(chained.relation)
            is_read = {chained.relation, by.relation} <= query.aliases.keys()
            facts = known.facts(table) if is_read and isinstance(table, exp.Table) else None
            if facts is None or chained.column not in accepted_columns(facts):
                continue
            type_name = known.type_name(graph, chained)
            if type_name is not None and family(chained) == family(by) is not None:
                yield chained, by, type_name
