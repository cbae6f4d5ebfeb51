"""`IN (SELECT …)` and `EXISTS (SELECT …)`: the keys of the subquery filter the outer SELECT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate, JoinGraph, KeySide
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.key_sides import key_side, key_sides

UNION = "union"


def semi_join(select: JoinedSelect) -> Iterator[Candidate]:
    """Yields each column whose values must be among those of a subquery's column.

    Only conditions that hold for every row count, so none under OR; those under NOT are rejected. The rest of
    the subquery (GROUP BY, HAVING, LIMIT, conditions on the outer row) can only make its keys fewer.
    """
    graph = select.graph
    inner = {id(scope.expression): scope for scope in select.scope.subquery_scopes}
    for conjunct in graph.conjuncts:
        is_anti = isinstance(conjunct, exp.Not)
        condition = conjunct.this.unnest() if is_anti else conjunct
        below = inner.get(id(_subquery(condition)))
        if below is None or answers_without_rows(below.expression):
            continue
        inner_graph = _of_union(below) or select.graph_of(below)
        if inner_graph is None:
            continue
        plain = (*_correlated(graph, inner_graph), *_membership(condition, below))
        null_safe = _correlated(graph, inner_graph, exp.NullSafeEQ)
        found = (
            *_candidates(graph, inner_graph, plain),
            *_candidates(graph, inner_graph, null_safe, is_null_safe=True),
        )
        yield from map(_rejected, found) if is_anti else found


def _candidates(
    graph: JoinGraph, inner: JoinGraph, pairs: Iterable[tuple[KeySide, KeySide]], is_null_safe: bool = False
) -> Iterator[Candidate]:
    for probe, build in pairs:
        outer, own = probe.column, build.column
        if outer.relation not in graph.relations or own.relation not in inner.relations:
            continue
        # As in a join, the NULLs of a missing row would be keys.
        is_filled = outer.relation in graph.null_supplied or own.relation in inner.null_supplied
        rejection = Reason.PROBE_IS_PRESERVED_SIDE if is_null_safe and is_filled else None
        yield Candidate.of_sides(
            JoinType.LEFT_SEMI, probe, build, inner.relations, inner, rejection, is_null_safe=is_null_safe
        )


def _rejected(candidate: Candidate) -> Candidate:
    return replace(candidate, join_type=JoinType.LEFT_ANTI, rejection=Reason.ANTI_JOIN)


def _of_union(below: Scope) -> JoinGraph | None:
    """Returns a union as the one relation of a join graph, so that it can be a build side; else None."""
    if not isinstance(below.expression, exp.Union):
        return None
    return JoinGraph({UNION: below}, frozenset(), (), (), ())


def answers_without_rows(query: exp.Expr) -> bool:
    """Whether the subquery may yield a row for an outer row without partners: `count(*)` of none is 0."""
    group = query.args.get("group")
    if group is not None:
        return any(
            not isinstance(expression.unnest(), exp.Column) for expression in group.expressions
        ) or any(value for key, value in group.args.items() if key != "expressions")
    # Any function may be an aggregate that the parser does not know; it takes `any` and `all` for operators.
    selects = query.selects if isinstance(query, exp.Select) else []
    functions = (function for select in selects for function in select.find_all(exp.Func, exp.Any, exp.All))
    return query.args.get("having") is not None or any(
        not isinstance(function, exp.Cast) for function in functions
    )


def _subquery(condition: exp.Expr) -> exp.Expr | None:
    if isinstance(condition, exp.In):
        query = condition.args.get("query")
        return query.unnest() if query is not None else None
    return condition.this.unnest() if isinstance(condition, exp.Exists) else None


def _correlated(
    graph: JoinGraph, inner: JoinGraph, operator: type[exp.EQ | exp.NullSafeEQ] = exp.EQ
) -> Iterator[tuple[KeySide, KeySide]]:
    for condition in inner.conjuncts:
        sides = key_sides(condition, operator) or ()
        for outer, own in (sides, sides[::-1]) if sides else ():
            relation = outer.column.relation
            if relation not in inner.relations and relation in graph.relations:
                yield outer, own


def _membership(condition: exp.Expr, below: Scope) -> Iterator[tuple[KeySide, KeySide]]:
    """Yields the pairs that are equal in each row that passes IN: for tuples, all of them, none NULL."""
    query = below.expression
    if not isinstance(condition, exp.In) or not isinstance(query, exp.Query):
        return
    asked = condition.this.unnest()
    asked = asked.expressions if isinstance(asked, exp.Tuple) else [asked]
    keys: Sequence[exp.Expr] = query.selects
    if isinstance(query, exp.Union):
        keys = [exp.column(select, table=UNION) for select in query.named_selects]
    for one, other in zip(asked, keys, strict=True) if len(asked) == len(keys) else ():
        probe, build = key_side(one), key_side(other.unalias())
        if probe is not None and build is not None:
            yield probe, build
