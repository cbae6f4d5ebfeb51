"""Condition pushdown: from the readers of a relation down to its SELECTs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import own_columns
from service.pruning.join_graph.base_columns import position_of, source_column
from service.pruning.join_graph.preserved_rows import lets_filters_through, preserves_rows_of
from service.pruning.join_graph.union_branches import branches_of

# A condition with more parts would cost more than it saves.
MAX_PLACES = 24


def pushed_down(
    relation: Scope, asked: Sequence[Sequence[exp.Expr]], is_of_one_type: Callable[[Scope, str], bool]
) -> Iterator[tuple[Scope, Sequence[exp.Expr]]]:
    """Yields each SELECT in a relation with the conditions that hold for its needed rows.

    `asked` has, for each reader of the relation, the conditions on its columns that hold for the rows which
    that reader needs. They move down as filters do, but only on columns that are columns below too. They move
    into a union only if these are of one type, because a union converts them before they are compared.
    """
    if len(asked) > MAX_PLACES or not lets_filters_through(relation.expression):
        return
    if isinstance(relation.expression, exp.Union):
        asked = [
            [
                condition
                for condition in place
                if all(is_of_one_type(relation, of.name) for of in own_columns(condition))
            ]
            for place in asked
        ]
    for select in branches_of(relation):
        places = [
            [_said_below(condition, relation, select) for condition in conditions] for conditions in asked
        ]
        known = [[condition for condition in conditions if condition is not None] for conditions in places]
        if all(known):
            yield select, known[0] if len(known) == 1 else [_one_of(known)]


def _one_of(places: Sequence[Sequence[exp.Expr]]) -> exp.Expr:
    return exp.or_(*dict.fromkeys(exp.and_(*place) for place in places))


def _said_below(condition: exp.Expr, relation: Scope, select: Scope) -> exp.Expr | None:
    """Returns a condition on the relation's columns as one on its SELECT's; None where there is none."""
    copy = condition.copy()
    for column in list(own_columns(copy)):
        position = position_of(relation, column.name)
        source = None if position is None else source_column(select.expression, position)
        if source is None or column is copy or not preserves_rows_of(select.expression, source):
            return None
        column.replace(source.copy())
    return copy
