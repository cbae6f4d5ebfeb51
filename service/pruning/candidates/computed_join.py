"""Equalities that give no keys: a side has several columns, or is the result of a subquery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate, ColumnOf, JoinGraph, column_pair, own_columns, relations_in
from service.pruning.candidates.semi_join import answers_without_rows
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.key_sides import key_side
from service.pruning.name_resolution.join_trees import joins_of

ANSWER = "answer"

GraphOf = Callable[[Scope], JoinGraph | None]


def computed_join(select: JoinedSelect) -> Iterator[Candidate]:
    """Yields rejected candidates: each column of one side, with the other side as its build side.

    They are recorded because the engine itself may prune by such joins. Each candidate names one column for
    each relation on the other side.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> from service.pruning.join_graph.join_graph import join_graph
    >>> scope = build_scope(parse_one("SELECT 1 FROM f JOIN e ON f.k = e.a + e.b", read="spark"))
    >>> for candidate in computed_join(JoinedSelect(scope, join_graph(scope), {}, join_graph)):
    ...     print(candidate.probe, candidate.build, str(candidate.rejection))
    ColumnOf(relation='f', column='k') ColumnOf(relation='e', column='b') KEY_IS_COMPUTED
    ColumnOf(relation='e', column='a') ColumnOf(relation='f', column='k') KEY_IS_COMPUTED
    ColumnOf(relation='e', column='b') ColumnOf(relation='f', column='k') KEY_IS_COMPUTED
    """
    scope, graph = select.scope, select.graph
    below = {id(subquery_scope.expression): subquery_scope for subquery_scope in scope.subquery_scopes}
    conditions = (*graph.conjuncts, *_of_outer_joins(scope.expression))
    for condition in conditions:
        if isinstance(condition, exp.In):
            yield from _by_list(condition, below, graph, select.graph_of)
    for one, other in _sides(conditions):
        yield from _by_answers(one, other, below, graph)
        yield from _by_columns(one, other, graph, graph)
    for inner in map(select.graph_of, below.values()):
        if inner is not None:
            for one, other in _sides(inner.conjuncts):
                yield from _by_columns(one, other, graph, inner)


def is_computed(condition: exp.Expr) -> bool:
    """Whether it is an equality between relations, but not one of two plain columns.

    >>> from sqlglot import parse_one
    >>> is_computed(parse_one("a.x + 1 = b.y")), is_computed(parse_one("a.x = b.y"))
    (True, False)
    """
    return (
        isinstance(condition, exp.EQ) and len(relations_in(condition)) > 1 and column_pair(condition) is None
    )


def _of_outer_joins(select: exp.Expr) -> Iterator[exp.Expr]:
    for join in joins_of(select):
        condition = join.args.get("on")
        if join.side and condition is not None:
            yield from (condition.flatten() if isinstance(condition, exp.And) else [condition])


def _sides(conditions: Iterable[exp.Expr]) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Yields both sides of each equality, in both orders."""
    for condition in conditions:
        if isinstance(condition, exp.EQ | exp.NullSafeEQ):
            left, right = condition.left.unnest(), condition.right.unnest()
            yield from ((left, right), (right, left))


def _by_columns(one: exp.Expr, other: exp.Expr, graph: JoinGraph, inner: JoinGraph) -> Iterator[Candidate]:
    if key_side(one) is not None and key_side(other) is not None:
        return
    # A name that both graphs have means the relation of the inner one.
    outside = {relation for relation in graph.relations if inner is graph or relation not in inner.relations}
    builds = {column.table: column for column in own_columns(other) if column.table in inner.relations}
    for column in own_columns(one):
        for name, build in builds.items() if column.table in outside else ():
            if name != column.table or inner is not graph:
                yield _rejected(column, ColumnOf(name, build.name), inner)


def _by_answers(
    one: exp.Expr, other: exp.Expr, below: Mapping[int, Scope], graph: JoinGraph
) -> Iterator[Candidate]:
    """Yields candidates whose build side is the one value of a subquery."""
    for query in other.find_all(exp.Query):
        scope = below.get(id(query.unnest()))
        if scope is not None:
            yield from _by_scope(one, scope, graph)


def _by_list(
    condition: exp.In, below: Mapping[int, Scope], graph: JoinGraph, graph_of: GraphOf
) -> Iterator[Candidate]:
    query = condition.args.get("query")
    scope = None if query is None else below.get(id(query.unnest()))
    if scope is None:
        return
    asked = condition.this.unnest()
    is_union = isinstance(scope.expression, exp.Union)
    is_seen = is_union or (graph_of(scope) is not None and not answers_without_rows(scope.expression))
    keys = scope.expression.selects if isinstance(scope.expression, exp.Select) else []
    columns = asked.expressions if isinstance(asked, exp.Tuple) else [asked]
    for position, column in enumerate(columns):
        key = keys[position].unalias() if position < len(keys) else None
        is_plain = is_union or (key is not None and key_side(key) is not None)
        if not (is_seen and is_plain and key_side(column) is not None):
            yield from _by_scope(column, scope, graph)


def _by_scope(one: exp.Expr, scope: Scope, graph: JoinGraph) -> Iterator[Candidate]:
    query = scope.expression
    name = query.named_selects[0] if isinstance(query, exp.Query) and query.named_selects else ANSWER
    answer = JoinGraph({ANSWER: scope}, frozenset(), (), (), ())
    for column in own_columns(one):
        if column.table in graph.relations:
            yield _rejected(column, ColumnOf(ANSWER, name), answer)


def _rejected(column: exp.Column, build: ColumnOf, graph: JoinGraph) -> Candidate:
    probe = ColumnOf(column.table, column.name)
    return Candidate(JoinType.INNER, probe, build, frozenset(), graph, Reason.KEY_IS_COMPUTED)
