"""Filter pushdown: from a column of a SELECT down to the table columns that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.filter_record import Reason
from service.model.filters.joins import ColumnOf, JoinGraph, Relation, own_columns
from service.pruning.join_graph.base_columns import position_of, source_column

# A condition with more parts would cost more than it saves.
MAX_PLACES = 24
_NUMBERS_ROWS = "monotonically_increasing_id"
# The parts that parentheses around a SELECT may have without a change to its rows.
_AROUND = ("this", "alias", "order")

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
    if is_shared or not _lets_filters_through(relation.expression):
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
    for select in _branches(relation):
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
    if not _preserves_rows_of(select.expression, source, *([] if cast is None else [cast[1]])):
        rejection = rejection or Reason.PROBE_NOT_PRUNABLE
    elif not is_open(select, source.table):
        rejection = rejection or Reason.PROBE_IS_PRESERVED_SIDE
    yield start, rejection


def pushed_down(
    relation: Scope, asked: Sequence[Sequence[exp.Expr]], is_of_one_type: Callable[[Scope, str], bool]
) -> Iterator[tuple[Scope, Sequence[exp.Expr]]]:
    """Yields each SELECT in a relation with the conditions that hold for its needed rows.

    `asked` has, for each reader of the relation, the conditions on its columns that hold for the rows which
    that reader needs. They move down as filters do, but only on columns that are columns below too. They move
    into a union only if these are of one type, because a union converts them before they are compared.
    """
    if len(asked) > MAX_PLACES or not _lets_filters_through(relation.expression):
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
    for select in _branches(relation):
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
        if source is None or column is copy or not _preserves_rows_of(select.expression, source):
            return None
        column.replace(source.copy())
    return copy


def _lets_filters_through(expression: exp.Expr) -> bool:
    if expression.args.get("limit") or expression.args.get("offset") or expression.args.get("sample"):
        return False
    outer = expression.parent
    while isinstance(outer, exp.Subquery):
        # A LIMIT, a sample or a join that follows the parentheses applies to the rows inside.
        if any(value for key, value in outer.args.items() if key not in _AROUND):
            return False
        outer = outer.parent
    if isinstance(expression, exp.Union):
        if expression.args.get("by_name"):
            # Columns are matched by their positions here.
            return False
        return all(_lets_filters_through(query.unnest()) for query in (expression.left, expression.right))
    return isinstance(expression, exp.Select)


def _branches(scope: Scope) -> Iterator[Scope]:
    if isinstance(scope.expression, exp.SetOperation):
        for operation_scope in scope.set_operation_scopes:
            yield from _branches(operation_scope)
    elif isinstance(scope.expression, exp.Select):
        yield scope


def _preserves_rows_of(select: exp.Expr, *keys: exp.Expr) -> bool:
    """Whether the output for the other keys stays the same when all input rows of some keys are removed.

    `keys` are the column, and the cast of it if that keeps distinct values distinct.
    """
    if any(anonymous.name.lower() == _NUMBERS_ROWS for anonymous in select.find_all(exp.Anonymous)):
        return False
    group = select.args.get("group")
    if group is not None:
        if any(value for key, value in group.args.items() if key != "expressions"):
            return False
        if not any(_selected(expression.unnest(), select) in keys for expression in group.expressions):
            return False
    elif any(
        _is_of(aggregate, select)
        for aggregate in select.find_all(exp.AggFunc)
        if aggregate.find_ancestor(exp.Window) is None
    ):
        return False
    windows = [window for window in select.find_all(exp.Window) if _is_of(window, select)]
    return all(any(key in window.args.get("partition_by", ()) for key in keys) for window in windows)


def _selected(key: exp.Expr, select: exp.Expr) -> exp.Expr:
    """Returns what a GROUP BY key stands for: a name that no relation has is an alias of the SELECT list."""
    if not isinstance(key, exp.Column) or key.table or not isinstance(select, exp.Select):
        return key
    return next(
        (projection.unalias().unnest() for projection in select.selects if projection.alias == key.name), key
    )


def _is_of(node: exp.Expr, select: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select) is select
