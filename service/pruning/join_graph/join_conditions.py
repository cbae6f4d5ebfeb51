"""The conditions that the joins around a derived table imply for its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from service.model.filters.joins import ColumnOf, JoinGraph, is_filter

AreAlike = Callable[[ColumnOf, ColumnOf], bool]
IsSafeToRender = Callable[[exp.Expr], bool]


def join_conditions(
    name: str, graph: JoinGraph, are_alike: AreAlike, is_safe_to_render: IsSafeToRender
) -> Iterator[exp.Expr]:
    """Yields conditions: a column of the relation is among the keys of a filtered table joined to it.

    The join itself stays where it is. As a condition, it can be pushed down to the SELECT that makes the
    relation's rows. `are_alike` returns whether two columns are compared exactly, value by value.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> from service.pruning.join_graph.join_graph import join_graph
    >>> sql = "SELECT 1 FROM (SELECT t.k FROM t) AS r JOIN d ON r.k = d.j WHERE d.x = 1"
    >>> graph = join_graph(build_scope(parse_one(sql, read="spark")))
    >>> [condition.sql("spark") for condition in join_conditions("r", graph, lambda *_: True, lambda _: True)]
    ['r.k IN (SELECT d.j FROM d WHERE d.x = 1)']
    """
    for pair in graph.equalities:
        for own, other in (pair, pair[::-1]):
            table = graph.relations.get(other.relation)
            if own.relation != name or not isinstance(table, exp.Table) or not are_alike(own, other):
                continue
            conditions = list(filter(is_safe_to_render, graph.conditions_on(other.relation)))
            if any(map(is_filter, conditions)):
                keys = exp.select(exp.column(other.column, table=other.relation))
                keys = keys.from_(_by_itself(table)).where(*conditions)
                column = exp.column(own.column, table=own.relation)
                yield exp.In(this=column, query=keys.subquery(copy=False))


def _by_itself(table: exp.Table) -> exp.Table:
    """Returns a copy of the table without the joins in the same parentheses."""
    copy = table.copy()
    copy.set("joins", None)
    return copy
