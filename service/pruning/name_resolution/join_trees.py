"""The joins of a SELECT as they are written: from left to right, and by themselves in parentheses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from service.model.filters.dynamic_filter import JoinType
from service.pruning.conditions.effective_joins import JoinTree, Operand, WrittenJoin
from service.pruning.conditions.implied_conjuncts import implied_conjuncts

_OUTER = {"LEFT": JoinType.LEFT_OUTER, "RIGHT": JoinType.RIGHT_OUTER, "FULL": JoinType.FULL_OUTER}
# The parts that plain parentheses around joins may have: not a name, a sample or a pivot.
_OF_PARENTHESES = frozenset({"this", "joins"})
# Joins whose right side is not visible afterwards.
_HIDING = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI)


def join_tree(select: exp.Select) -> JoinTree | None:
    """Returns the joins in the FROM of a qualified SELECT; None when one of them is not supported here.

    Parentheses at the left end change nothing.

    >>> from sqlglot import parse_one
    >>> text = "SELECT 1 FROM (a JOIN b ON a.k = b.k) LEFT JOIN (c JOIN d) ON a.j = c.j"
    >>> tree = join_tree(parse_one(text, read="spark"))
    >>> [(join.join_type.value, sorted(join.names)) for join in tree.joins]
    [('INNER', ['b']), ('LEFT_OUTER', ['c', 'd'])]
    """
    found = _operand(select.args["from_"].this)
    return None if found is None else _joined(found, select.args.get("joins") or ())


def joins_of(select: exp.Expr) -> Iterator[exp.Join]:
    """Yields the joins in the FROM of a SELECT, also those in parentheses.

    >>> from sqlglot import parse_one
    >>> text = "SELECT 1 FROM (a JOIN b) JOIN (c JOIN (SELECT 1 FROM x JOIN y) AS d) ON TRUE"
    >>> [join.alias_or_name for join in joins_of(parse_one(text))]
    ['b', '', 'd']
    """
    first = select.args.get("from_")
    if first is not None:
        yield from _joins_within(first.this)
    for join in select.args.get("joins") or ():
        yield join
        yield from _joins_within(join.this)


def relations_of(select: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the relations in the FROM of a SELECT, also those in parentheses."""
    first = select.args.get("from_")
    for join in (*([] if first is None else [first]), *joins_of(select)):
        relation = join.this
        while is_parenthesis(relation):
            relation = relation.this
        yield relation


def is_parenthesis(relation: exp.Expr) -> bool:
    """Whether these are plain parentheses around tables or joins, without a name of their own."""
    if not isinstance(relation, exp.Subquery) or isinstance(relation.this, exp.Select | exp.SetOperation):
        return False
    return _OF_PARENTHESES.issuperset(key for key, value in relation.args.items() if value)


def _joins_within(relation: exp.Expr) -> Iterator[exp.Join]:
    if is_parenthesis(relation):
        yield from _joins_within(relation.this)
    for join in relation.args.get("joins") or ():
        yield join
        yield from _joins_within(join.this)


def _operand(relation: exp.Expr) -> Operand | None:
    """Returns a relation's name, or the joins in parentheses; None if these are not supported."""
    within = _operand(relation.this) if is_parenthesis(relation) else relation.alias_or_name
    joins = relation.args.get("joins")
    return _joined(within, joins) if joins and within is not None else within


def _joined(first: Operand, joins: Sequence[exp.Join]) -> JoinTree | None:
    tree = first if isinstance(first, JoinTree) else JoinTree(first)
    found = [*tree.joins]
    for join in joins:
        join_type, added = _join_type(join), _operand(join.this)
        if join_type is None or added is None or (join_type in _HIDING and isinstance(added, JoinTree)):
            return None
        found.append(WrittenJoin(join_type, added, list(implied_conjuncts(join.args.get("on")))))
    return JoinTree(tree.first, tuple(found))


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
