"""`IN (SELECT …)` and `EXISTS (SELECT …)`: the left side is narrowed by the keys of the right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filtering import JoinType
from service.model.joins import Candidate, JoinGraph
from service.pruning.key_sides import KeySide, key_side, key_sides

UNION = "union"


def semi_join(
    scope: Scope, graph: JoinGraph, graph_of: Callable[[Scope], JoinGraph | None]
) -> Iterator[Candidate]:
    """Every column that a condition of the SELECT says to be among a subquery's.

    Only conditions that hold of every row count, so nothing under NOT or OR. What else the subquery does
    (GROUP BY, HAVING, LIMIT, conditions on the outer row) can only make its keys fewer.
    """
    inner = {id(each.expression): each for each in scope.subquery_scopes}
    for condition in graph.conjuncts:
        subquery = _subquery(condition)
        below = inner.get(id(subquery))
        if below is None or _answers_without_rows(below.expression):
            continue
        inner_graph = _of_union(below) or graph_of(below)
        if inner_graph is None:
            continue
        for probe, build in (*_correlated(graph, inner_graph), *_membership(condition, below)):
            outer, own = probe.column, build.column
            if outer.relation in graph.relations and own.relation in inner_graph.relations:
                yield Candidate(
                    JoinType.LEFT_SEMI,
                    outer,
                    own,
                    frozenset(inner_graph.relations),
                    inner_graph,
                    probe_key=probe.expression,
                    build_key=build.expression,
                )


def _of_union(below: Scope) -> JoinGraph | None:
    """A union as the one relation of a SELECT, so that it may be a build side as in a join."""
    if not isinstance(below.expression, exp.Union):
        return None
    return JoinGraph({UNION: below}, frozenset(), (), (), ())


def _answers_without_rows(query: exp.Expr) -> bool:
    """Whether it has a row for an outer row without partners: `count(*)` of nothing is 0."""
    group = query.args.get("group")
    if group is not None:
        return any(not isinstance(each.unnest(), exp.Column) for each in group.expressions) or any(
            value for key, value in group.args.items() if key != "expressions"
        )
    # Any function may be an aggregate that is not known here.
    selects = query.selects if isinstance(query, exp.Select) else []
    functions = (each for select in selects for each in select.find_all(exp.Func))
    return query.args.get("having") is not None or any(not isinstance(each, exp.Cast) for each in functions)


def _subquery(condition: exp.Expr) -> exp.Expr | None:
    if isinstance(condition, exp.In):
        query = condition.args.get("query")
        return query.unnest() if query is not None else None
    return condition.this.unnest() if isinstance(condition, exp.Exists) else None


def _correlated(graph: JoinGraph, inner: JoinGraph) -> Iterator[tuple[KeySide, KeySide]]:
    for condition in inner.conjuncts:
        sides = key_sides(condition) or ()
        for outer, own in (sides, sides[::-1]) if sides else ():
            relation = outer.column.relation
            if relation not in inner.relations and relation in graph.relations:
                yield outer, own


def _membership(condition: exp.Expr, below: Scope) -> Iterator[tuple[KeySide, KeySide]]:
    query = below.expression
    selects = query.selects if isinstance(query, exp.Query) else []
    if not isinstance(condition, exp.In) or len(selects) != 1:
        return
    key = exp.column(query.named_selects[0], table=UNION) if isinstance(query, exp.Union) else selects[0]
    probe, build = key_side(condition.this), key_side(key.unalias())
    if probe is not None and build is not None:
        yield probe, build
