"""How one SELECT joins its relations, and which of its conditions hold for every row that leaves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.joins import JoinEquality, JoinGraph, Relation, column_pair
from service.pruning.conditions.effective_joins import Operand, WrittenJoin, effective_joins
from service.pruning.conditions.implied_conjuncts import implied_conjuncts
from service.pruning.join_graph.key_sides import key_sides
from service.pruning.name_resolution.join_trees import join_tree, joins_of

_INNER = (JoinType.INNER, JoinType.LEFT_SEMI)


def join_graph(scope: Scope, asked: Sequence[exp.Expr] = ()) -> JoinGraph | None:
    """Returns the joins of a qualified SELECT; None when they have something that is not supported here.

    A condition in the ON of an inner join holds for every row, unless a later RIGHT or FULL JOIN adds rows
    that it has not seen. An outer join whose NULLs are dropped counts as an inner join. The conditions
    `asked` hold for every row that is needed from the SELECT.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> sql = "SELECT 1 FROM f LEFT JOIN d ON f.k = d.k WHERE f.x = 1"
    >>> graph = join_graph(build_scope(parse_one(sql, read="spark")))
    >>> sorted(graph.null_supplied), [conjunct.sql() for conjunct in graph.conjuncts]
    (['d'], ['f.x = 1'])
    >>> graph = join_graph(build_scope(parse_one(sql.replace("f.x", "d.x"), read="spark")))
    >>> sorted(graph.null_supplied), [conjunct.sql() for conjunct in graph.conjuncts]
    ([], ['f.k = d.k', 'd.x = 1'])
    """
    select = scope.expression
    if not isinstance(select, exp.Select) or select.args.get("from_") is None or _is_reshaped(scope):
        return None
    hidden = scope.semi_or_anti_join_tables
    where = select.args.get("where")
    selected = list(implied_conjuncts(where.this if where is not None else None))
    if any(column.table in hidden for projection in selected for column in projection.find_all(exp.Column)):
        # WHERE does not see the right side of a SEMI or ANTI join: the name means a relation further out.
        return None
    tree = join_tree(select)
    if tree is None or any(map(_is_hidden_inside, joins_of(select))):
        return None
    relations = {name: source for name, (_, source) in scope.selected_sources.items()}
    relations |= {name: scope.sources[name] for name in hidden if name in scope.sources}
    joined, operands = _joined(tree, (*selected, *asked))
    graph = _graph(joined, relations, (*selected, *asked))
    return replace(graph, operands=tuple(_graph(operand, relations) for operand in operands))


@dataclass(frozen=True, slots=True)
class _Joined:
    """The known facts about the rows of some joins: the `conditions` hold for each of them.

    `null_supplied` relations may be NULLs in a row. `filled` relations may be, going by the joins as written.
    """

    names: frozenset[str]
    conditions: Sequence[exp.Expr] = ()
    null_supplied: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    others: Sequence[JoinEquality] = ()


def _joined(tree: Operand, implied: Sequence[exp.Expr]) -> tuple[_Joined, list[_Joined]]:
    """Returns the joins, and separately those of each side that an outer join may replace by NULLs.

    `implied` are conditions that hold for every needed row of the joins.
    """
    if isinstance(tree, str):
        return _Joined(frozenset([tree])), []
    types = effective_joins(tree.first, tree.joins, implied)
    found, operands = _Joined(frozenset([tree.first])), list[_Joined]()
    for position, (join, join_type) in enumerate(zip(tree.joins, types, strict=True)):
        asked = _asked(join, join_type, implied, zip(tree.joins[position:], types[position:], strict=True))
        added, inside = _joined(join.added, asked)
        operands += inside
        left, right = _is_filled(join_type)
        operands += [operand for operand in (*[found] * left, *[added] * right) if len(operand.names) > 1]
        found = _added(found, added, join, join_type)
    return found, operands


def _asked(
    join: WrittenJoin,
    join_type: JoinType,
    implied: Sequence[exp.Expr],
    later: Iterable[tuple[WrittenJoin, JoinType]],
) -> Sequence[exp.Expr]:
    """Returns what holds for the needed rows that a join adds. `later` are the joins from this one on."""
    if _is_filled(join_type)[1]:
        # A row that does not meet the join's conditions is not seen. Nothing else is known of the others.
        return join.conditions if join_type is JoinType.LEFT_OUTER else ()
    inner = (other.conditions for other, kind in later if kind in _INNER)
    return (*implied, *chain.from_iterable(inner))


def _added(before: _Joined, added: _Joined, join: WrittenJoin, join_type: JoinType) -> _Joined:
    is_left_filled, is_right_filled = _is_filled(join_type)
    supplied = before.null_supplied | added.null_supplied
    is_inner = join_type in _INNER
    equalities = () if is_inner else _equalities_of(join.conditions, join_type, join.names, supplied)
    return _Joined(
        names=before.names | added.names,
        conditions=(
            *(() if is_left_filled else before.conditions),
            *(() if is_right_filled or join_type is JoinType.LEFT_ANTI else added.conditions),
            *(join.conditions if is_inner else ()),
        ),
        null_supplied=supplied | _filled(join_type, before.names, added.names),
        filled=before.filled | added.filled | _filled(join.join_type, before.names, added.names),
        others=(*before.others, *(() if is_right_filled else added.others), *equalities),
    )


def _graph(joined: _Joined, relations: Mapping[str, Relation], more: Sequence[exp.Expr] = ()) -> JoinGraph:
    implied = (*joined.conditions, *more)
    return JoinGraph(
        relations={name: relation for name, relation in relations.items() if name in joined.names},
        null_supplied=joined.null_supplied,
        conjuncts=implied,
        equalities=tuple(pair for conjunct in implied if (pair := column_pair(conjunct)) is not None),
        other_equalities=tuple(joined.others),
        null_rejected=joined.filled - joined.null_supplied,
    )


def _is_filled(join_type: JoinType) -> tuple[bool, bool]:
    """Whether the rows before a join, and those that it adds, may be replaced by NULLs."""
    is_full = join_type is JoinType.FULL_OUTER
    return is_full or join_type is JoinType.RIGHT_OUTER, is_full or join_type is JoinType.LEFT_OUTER


def _filled(join_type: JoinType, before: frozenset[str], added: frozenset[str]) -> frozenset[str]:
    """The relations that a join may replace by NULLs."""
    is_left_filled, is_right_filled = _is_filled(join_type)
    return (before if is_left_filled else frozenset()) | (added if is_right_filled else frozenset())


def _is_hidden_inside(join: exp.Join) -> bool:
    """Whether it is a SEMI or ANTI join in parentheses, where it is not known what sees its right side."""
    return join.kind in ("SEMI", "ANTI") and not isinstance(join.parent, exp.Select)


def _is_reshaped(scope: Scope) -> bool:
    """Whether a pivot, or a sample of a derived table, changes the rows or columns of a relation."""
    if scope.expression.args.get("pivots"):
        return True
    return any(
        node.args.get("pivots") or (isinstance(source, Scope) and node.args.get("sample"))
        for node, source in scope.selected_sources.values()
    )


def _equalities_of(
    conditions: Sequence[exp.Expr], join_type: JoinType, added: Set[str], null_supplied: Set[str]
) -> Iterator[JoinEquality]:
    for condition in conditions:
        is_null_safe = isinstance(condition, exp.NullSafeEQ)
        sides = key_sides(condition, exp.NullSafeEQ if is_null_safe else exp.EQ)
        if sides is None or added.isdisjoint(side.column.relation for side in sides):
            continue
        before, last = sides if sides[1].column.relation in added else sides[::-1]
        # To prune such a side adds NULLs in the place of its rows, and these are keys to `<=>`.
        is_of_filled = is_null_safe and any(side.column.relation in null_supplied for side in sides)
        yield JoinEquality(join_type, before, last, is_null_safe, is_of_filled)
