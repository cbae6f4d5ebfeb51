"""How one SELECT joins its relations, and which of its conditions hold for every row that leaves it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filtering import JoinType
from service.model.joins import JoinEquality, JoinGraph, column_pair
from service.pruning.holding_conditions import holding_conditions
from service.pruning.joins_in_effect import WrittenJoin, joins_in_effect
from service.pruning.key_sides import key_sides

_OUTER = {"LEFT": JoinType.LEFT_OUTER, "RIGHT": JoinType.RIGHT_OUTER, "FULL": JoinType.FULL_OUTER}


def join_graph(scope: Scope, asked: Sequence[exp.Expr] = ()) -> JoinGraph | None:
    """The joins of a qualified SELECT; None when there is something in them that is not understood here.

    A condition in the ON of an inner join holds of every row, unless a later RIGHT or FULL JOIN adds rows
    that it has not seen. An outer join whose NULLs are dropped is an inner one. `asked` are conditions that
    hold of every row which is needed of the SELECT.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> sql = "SELECT 1 FROM f LEFT JOIN d ON f.k = d.k WHERE f.x = 1"
    >>> graph = join_graph(build_scope(parse_one(sql, read="spark")))
    >>> sorted(graph.null_supplied), [each.sql() for each in graph.conjuncts]
    (['d'], ['f.x = 1'])
    >>> graph = join_graph(build_scope(parse_one(sql.replace("f.x", "d.x"), read="spark")))
    >>> sorted(graph.null_supplied), [each.sql() for each in graph.conjuncts]
    ([], ['f.k = d.k', 'd.x = 1'])
    """
    select = scope.expression
    if not isinstance(select, exp.Select) or select.args.get("from_") is None or _is_reshaped(scope):
        return None
    hidden = scope.semi_or_anti_join_tables
    where = select.args.get("where")
    selected = list(holding_conditions(where.this if where is not None else None))
    if any(column.table in hidden for each in selected for column in each.find_all(exp.Column)):
        # WHERE does not see the right side of such a join: the name is that of a relation further out.
        return None
    joins = _written_joins(select)
    if joins is None:
        return None
    first = select.args["from_"].alias_or_name
    types = joins_in_effect(first, joins, (*selected, *asked))
    seen = {first}
    filled: set[str] = set()
    null_supplied: set[str] = set()
    inner: list[exp.Expr] = []
    others: list[JoinEquality] = []
    for join, join_type in zip(joins, types, strict=True):
        if join_type in (JoinType.INNER, JoinType.LEFT_SEMI):
            inner += join.conditions
        else:
            others += _equalities_of(join.conditions, join_type, join.added, null_supplied)
        if join_type in (JoinType.RIGHT_OUTER, JoinType.FULL_OUTER):
            inner = []
        null_supplied |= _filled(join_type, seen, join.added)
        filled |= _filled(join.join_type, seen, join.added)
        seen.add(join.added)
    holding = (*inner, *selected, *asked)
    relations = {name: source for name, (_, source) in scope.selected_sources.items()}
    relations |= {name: scope.sources[name] for name in hidden if name in scope.sources}
    return JoinGraph(
        relations=relations,
        null_supplied=frozenset(null_supplied),
        conjuncts=holding,
        equalities=tuple(pair for each in holding if (pair := column_pair(each)) is not None),
        other_equalities=tuple(others),
        null_rejected=frozenset(filled - null_supplied),
    )


def _written_joins(select: exp.Select) -> list[WrittenJoin] | None:
    found: list[WrittenJoin] = []
    for join in select.args.get("joins") or ():
        join_type = _join_type(join)
        if join_type is None:
            return None
        found.append(
            WrittenJoin(join_type, join.alias_or_name, list(holding_conditions(join.args.get("on"))))
        )
    return found


def _filled(join_type: JoinType, seen: Set[str], added: str) -> Set[str]:
    """The relations that a join may replace by NULLs."""
    match join_type:
        case JoinType.LEFT_OUTER:
            return {added}
        case JoinType.RIGHT_OUTER:
            return seen
        case JoinType.FULL_OUTER:
            return {*seen, added}
        case _:
            return frozenset()


def _is_reshaped(scope: Scope) -> bool:
    """Whether something that is read has other rows or columns than its source."""
    if scope.expression.args.get("pivots") or _has_hidden_nulls(scope.expression):
        return True
    return any(
        node.args.get("pivots") or (isinstance(source, Scope) and node.args.get("sample"))
        for node, source in scope.selected_sources.values()
    )


def _has_hidden_nulls(select: exp.Expr) -> bool:
    """Whether joins stand in parentheses and not all are inner ones: NULLs may stand for any side then."""
    joins = [each for each in select.find_all(exp.Join) if each.find_ancestor(exp.Select) is select]
    is_nested = any(each.parent is not select for each in joins)
    return is_nested and any(_join_type(each) is not JoinType.INNER for each in joins)


def _join_type(join: exp.Join) -> JoinType | None:
    if join.args.get("method") or join.args.get("using"):
        return None
    if join.kind == "SEMI":
        return JoinType.LEFT_SEMI if join.side in ("", "LEFT") else None
    if join.kind == "ANTI":
        return JoinType.LEFT_ANTI if join.side in ("", "LEFT") else None
    if join.side:
        return _OUTER.get(join.side) if join.kind in ("", "OUTER") else None
    return JoinType.INNER if join.kind in ("", "INNER", "CROSS") else None


def _equalities_of(
    conditions: Sequence[exp.Expr], join_type: JoinType, added: str, null_supplied: Set[str]
) -> Iterator[JoinEquality]:
    for each in conditions:
        is_null_safe = isinstance(each, exp.NullSafeEQ)
        sides = key_sides(each, exp.NullSafeEQ if is_null_safe else exp.EQ)
        if sides is None or added not in (sides[0].column.relation, sides[1].column.relation):
            continue
        before, last = sides if sides[1].column.relation == added else sides[::-1]
        # Fewer rows there were more NULLs that stand for one, and to `<=>` these are keys.
        is_of_filled = is_null_safe and before.column.relation in null_supplied
        yield JoinEquality(join_type, before, last, is_null_safe, is_of_filled)
