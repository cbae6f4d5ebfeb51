"""Filter pushdown: from a column of a SELECT down to the table columns that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.filter_record import Reason
from service.model.filters.joins import ColumnOf, JoinGraph, Relation, own_columns
from service.pruning.join_graph.base_columns import position_of, source_column
from service.pruning.join_graph.preserved_rows import lets_filters_through, preserves_rows_of
from service.pruning.join_graph.union_branches import branches_of

# Why a filter is not pushed down, in words.
SHARED = "another place that reads these rows may need rows with other keys"
LIMITED = "a LIMIT, OFFSET or sample chooses among all rows"
TOTALLED = "a total, a window or a row number includes rows with other keys"

GraphOf = Callable[[Scope], JoinGraph | None]
IsOpen = Callable[[Scope, str], bool]
ClassesOf = Callable[[Scope], Mapping[ColumnOf, frozenset[ColumnOf]]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One of the `count` readers of the SELECT `of`: the relation `relation` in the SELECT `select`.

    SELECTs are given by the identities of their scopes. Their places in the text would not do: where the
    qualifier has copied a subquery, two SELECTs have the same place.
    """

    of: int
    select: int
    relation: str
    count: int


@dataclass(frozen=True, slots=True)
class Source:
    """A table column below a column of a SELECT; with a `rejection`, no filter may be pushed down to it.

    `cause` says in words why. With a `reading`, a filter may be pushed down only together with filters for
    all other readers of the same rows. `expression` is the column above in terms of this one; None when both
    are the same.
    """

    table: exp.Table
    column: str
    rejection: Reason | None = None
    reading: Reading | None = None
    cause: str = ""
    expression: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A relation, with its name in a SELECT that reads it."""

    select: Scope
    name: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class _Step:
    """A column on a filter's way down, and what has become of the filter so far."""

    place: Place
    column: str
    rejection: Reason | None
    reading: Reading | None
    cause: str = ""
    expression: exp.Expr | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """A value that is equal for two steps exactly when the same columns lie below both."""
        place = id(self.place.select), self.place.name, self.column
        return *place, self.rejection, self.reading, self.expression


@dataclass(frozen=True, slots=True)
class PushdownContext:
    """The facts about a query's SELECTs that filter pushdown needs.

    `is_open` returns False for a SELECT and a relation in it whose rows must not be pruned.
    """

    classes_of: ClassesOf
    reference_count: Callable[[Scope], int]
    is_open: IsOpen = lambda _select, _relation: True


def pushdown_targets(
    place: Place,
    column: str,
    context: PushdownContext,
    rejection: Reason | None = None,
    reading: Reading | None = None,
) -> Iterator[Source]:
    """Yields the table columns below `column`, each with a refusal if a filter cannot be pushed down to it.

    The filter keeps the rows whose `column` is in a set of keys. It moves down through projections, joins,
    set unions and a GROUP BY of its column. It does not move into a SELECT that has a LIMIT, or a window that
    looks beyond the column's own rows: the table columns below have a `rejection`. One SELECT on its way may
    have several readers; then `reading` is the one that it comes from. Casts of the column are passed, but
    not those in a union's branches. Whether a cast loses values is checked where the column's type is known.
    """
    waiting = [_Step(place, column, rejection, reading)]
    # Nested unions of one common table expression double with each step.
    passed: set[tuple[object, ...]] = set()
    while waiting:
        step = waiting.pop()
        if step.identity in passed:
            continue
        passed.add(step.identity)
        relation = step.place.relation
        if isinstance(relation, exp.Table):
            yield Source(relation, step.column, step.rejection, step.reading, step.cause, step.expression)
        elif isinstance(relation, Scope):
            waiting += reversed(list(_steps_below(step, relation, context)))


def _steps_below(step: _Step, relation: Scope, context: PushdownContext) -> Iterator[_Step]:
    if position_of(relation, step.column) is None:
        return
    rejection, reading, count = step.rejection, step.reading, context.reference_count(relation)
    cause = step.cause
    is_shared = reading is not None and count > 1
    if is_shared or not lets_filters_through(relation.expression):
        cause = cause if rejection else (SHARED if is_shared else LIMITED)
        rejection = rejection or Reason.PROBE_NOT_PRUNABLE
    if count > 1:
        reading = Reading(id(relation), id(step.place.select), step.place.name, count)
    is_union = isinstance(relation.expression, exp.SetOperation)
    for select, at in _branch_positions(relation, step.column):
        cast = None if is_union else _cast_column(select.expression, at)
        said = step.expression if cast is None else over_column(step.expression, cast[1])
        # A union converts its branches to one type, which is not that of the column below a cast.
        rejected = Reason.KEY_IS_COMPUTED if is_union and said is not None else None
        for start, reason in _below(select, at, context.is_open, rejection or rejected, cast):
            for below, name in _equal_columns(select, start, context if reason is None else None):
                is_totalled = rejection is None and reason is Reason.PROBE_NOT_PRUNABLE
                yield _Step(below, name, reason, reading, TOTALLED if is_totalled else cause, said)


def _cast_column(select: exp.Expr, position: int) -> tuple[exp.Column, exp.Expr] | None:
    """Returns the column that a SELECT casts at a position of its list, and the cast; None if it has none."""
    selects = select.selects if isinstance(select, exp.Select) else []
    if position >= len(selects) or any(projection.is_star for projection in selects):
        return None
    cast = selects[position].unalias().unnest()
    inner = cast
    while isinstance(inner, exp.Cast | exp.TsOrDsToDate | exp.Paren):
        inner = inner.this
    is_cast = inner is not cast and isinstance(inner, exp.Column) and bool(inner.table)
    return (inner, cast) if is_cast and isinstance(inner, exp.Column) else None


def over_column(expression: exp.Expr | None, column: exp.Expr) -> exp.Expr:
    """Returns the expression with `column` in the place of its own column; `column` if there is none."""
    if expression is None:
        return column

    new = exp.paren(column) if isinstance(column, exp.Binary) else column

    def below(node: exp.Expr) -> exp.Expr:
        return new.copy() if isinstance(node, exp.Column) else node

    return expression.copy().transform(below)


def _branch_positions(relation: Scope, column: str) -> Iterator[tuple[Scope, int]]:
    """Yields the SELECTs of a relation, each with the column's position in its list."""
    position = position_of(relation, column)
    is_by_name = bool(relation.expression.args.get("by_name"))
    for select in branches_of(relation):
        at = position_of(select, column) if is_by_name else position
        if at is not None:
            yield select, at


def _equal_columns(
    select: Scope, start: ColumnOf, context: PushdownContext | None
) -> Iterator[tuple[Place, str]]:
    """Yields the column and those that equal it in each row, each with its place."""
    same = frozenset() if context is None else context.classes_of(select).get(start, frozenset())
    for column in sorted(same | {start}):
        _, inner = select.selected_sources.get(column.relation, (None, None))
        if inner is not None:
            yield Place(select, column.relation, inner), column.column


def _below(
    select: Scope,
    position: int,
    is_open: IsOpen,
    rejection: Reason | None,
    cast: tuple[exp.Column, exp.Expr] | None,
) -> Iterator[tuple[ColumnOf, Reason | None]]:
    """Yields the columns that a SELECT's column is made of, each with the reason why it is not filtered."""
    source = source_column(select.expression, position) if cast is None else cast[0]
    if source is None:
        selects = select.expression.selects if isinstance(select.expression, exp.Select) else []
        computed = own_columns(selects[position]) if position < len(selects) else ()
        for column_ in dict.fromkeys(ColumnOf(column.table, column.name) for column in computed):
            yield column_, rejection or Reason.KEY_IS_COMPUTED
        return
    start = ColumnOf(source.table, source.name)
    if not preserves_rows_of(select.expression, source, *([] if cast is None else [cast[1]])):
        rejection = rejection or Reason.PROBE_NOT_PRUNABLE
    elif not is_open(select, source.table):
        rejection = rejection or Reason.PROBE_IS_PRESERVED_SIDE
    yield start, rejection
