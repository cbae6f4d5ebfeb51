"""Outer-join simplification: if conditions drop the NULLs that a join fills in, it is an inner join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from service.model.filters.dynamic_filter import JoinType
from service.pruning.conditions.rejected_nulls import null_rejecting_columns

_OUTER = frozenset({JoinType.LEFT_OUTER, JoinType.RIGHT_OUTER, JoinType.FULL_OUTER})
# Joins whose right side is not visible afterwards.
_ONE_SIDED = frozenset({JoinType.LEFT_SEMI, JoinType.LEFT_ANTI})


class WrittenJoin(NamedTuple):
    """A join as it is written: to the relation `added`, or to joins in parentheses, on all `conditions`."""

    join_type: JoinType
    added: Operand
    conditions: Sequence[exp.Expr]

    @property
    def names(self) -> frozenset[str]:
        """The relations that the join adds."""
        return self.added.names if isinstance(self.added, JoinTree) else frozenset([self.added])


@dataclass(frozen=True, slots=True)
class JoinTree:
    """Relations that are joined from left to right, beginning with `first`."""

    first: str
    joins: tuple[WrittenJoin, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """All of its relations."""
        return frozenset([self.first]).union(*(join.names for join in self.joins))


Operand = str | JoinTree


def effective_joins(
    first: str, joins: Sequence[WrittenJoin], implied: Iterable[exp.Expr]
) -> Sequence[JoinType]:
    """Returns the type that each join to `first` has for the rows that meet `implied` after all joins.

    A condition that is not true of NULLs drops the rows that an outer join fills with them. If all such rows
    are dropped, the join is an inner join, and then its own conditions also hold for the joins before it.

    Source: Spark's `EliminateOuterJoin`.

    >>> from sqlglot import parse_one
    >>> def join(kind, added, on):
    ...     return WrittenJoin(kind, added, [parse_one(on)])
    >>> joins = [join(JoinType.LEFT_OUTER, "b", "a.k = b.k"), join(JoinType.FULL_OUTER, "c", "b.j = c.j")]
    >>> [str(kind) for kind in effective_joins("a", joins, [parse_one("c.x = 1")])]
    ['LEFT_OUTER', 'RIGHT_OUTER']
    >>> [str(kind) for kind in effective_joins("a", joins, [parse_one("c.x = 1"), parse_one("a.x = 1")])]
    ['INNER', 'INNER']
    """
    written = [join.join_type for join in joins]
    if _OUTER.isdisjoint(written):
        return written
    rejected = _rejected(implied)
    found: list[JoinType] = []
    # The conditions of a join apply to the rows of the joins before it.
    for position in reversed(range(len(joins))):
        join = joins[position]
        before = _before(first, joins[:position])
        are_needed = not before.isdisjoint(rejected), not join.names.isdisjoint(rejected)
        join_type = _in_effect(join.join_type, *are_needed)
        if join_type in (JoinType.INNER, JoinType.LEFT_SEMI):
            rejected |= _rejected(join.conditions)
        found.append(join_type)
    return found[::-1]


def _before(first: str, joins: Sequence[WrittenJoin]) -> frozenset[str]:
    """Returns the relations that a next join is joined to.

    To the engine, a comma binds less tightly than JOIN: relations before it are not in a later join's side.
    """
    found = [first]
    for join in joins:
        if join.join_type is JoinType.INNER and all(isinstance(one, exp.Boolean) for one in join.conditions):
            found = []
        if join.join_type not in _ONE_SIDED:
            found += join.names
    return frozenset(found)


def _rejected(conditions: Iterable[exp.Expr]) -> frozenset[str]:
    return frozenset().union(*map(null_rejecting_columns, conditions))


def _in_effect(join_type: JoinType, is_left_needed: bool, is_right_needed: bool) -> JoinType:
    """Returns the join's type without the rows that have only NULLs for a needed side."""
    match join_type:
        case JoinType.LEFT_OUTER if is_right_needed:
            return JoinType.INNER
        case JoinType.RIGHT_OUTER if is_left_needed:
            return JoinType.INNER
        case JoinType.FULL_OUTER if is_left_needed and is_right_needed:
            return JoinType.INNER
        case JoinType.FULL_OUTER if is_left_needed:
            return JoinType.LEFT_OUTER
        case JoinType.FULL_OUTER if is_right_needed:
            return JoinType.RIGHT_OUTER
        case _:
            return join_type
