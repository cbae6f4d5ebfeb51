"""Which columns of tables a column of a SELECT comes from, and whether a filter may be moved down to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.filtering import Reason
from service.model.filters.joins import ColumnOf, JoinGraph, Relation, own_columns
from service.pruning.join_graph.base_columns import position_of, source_column

# A condition of so many parts would be slower than what it saves.
MAX_PLACES = 24
_NUMBERS_ROWS = "monotonically_increasing_id"
# What parentheses around a SELECT may have without changing its rows.
_AROUND = ("this", "alias", "order")

# Why no filter is moved down, in words.
SHARED = "another place that reads these rows may need others of them"
LIMITED = "a LIMIT, OFFSET or sample chooses among all rows"
TOTALLED = "a total, a window or a running number is made of rows with other keys too"

GraphOf = Callable[[Scope], JoinGraph | None]
IsOpen = Callable[[Scope, str], bool]
ClassesOf = Callable[[Scope], Mapping[ColumnOf, frozenset[ColumnOf]]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One of `count` places that read the SELECT `of`: as `relation`, in the SELECT `select`.

    These are identities of scopes. Two SELECTs may stand at one place in the text, where the qualifier has
    copied a subquery.
    """

    of: int
    select: int
    relation: str
    count: int


@dataclass(frozen=True, slots=True)
class Source:
    """A column of a table below a column of a SELECT; with a `refusal`, no filter may be moved down to it.

    `cause` says in words what the refusal is for. With a `reading`, one may only together with filters for
    all others that read the same. `expression` is the column above in terms of this one, when it is not the
    same.
    """

    table: exp.Table
    column: str
    refusal: Reason | None = None
    reading: Reading | None = None
    cause: str = ""
    expression: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A relation by its name in a SELECT that reads it."""

    select: Scope
    name: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class _Step:
    """A column on a filter's way down, with what has become of the filter so far."""

    place: Place
    column: str
    refusal: Reason | None
    reading: Reading | None
    cause: str = ""
    expression: exp.Expr | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two steps exactly when the same lies below both."""
        place = id(self.place.select), self.place.name, self.column
        return *place, self.refusal, self.reading, self.expression


@dataclass(frozen=True, slots=True)
class Ways:
    """What is known of a query's SELECTs where a filter would move down through them.

    `is_open` says no of a SELECT and a relation in it whose rows must not be left out.
    """

    classes_of: ClassesOf
    mentions_of: Callable[[Scope], int]
    is_open: IsOpen = lambda _select, _relation: True


def narrowed_by(
    place: Place, column: str, ways: Ways, refusal: Reason | None = None, reading: Reading | None = None
) -> Iterator[Source]:
    """The table columns that may be narrowed to a set when only rows with `column` in that set are needed.

    A filter moves down through projections, joins, set unions and GROUP BY its column; not into a
    SELECT that has a LIMIT, or a window that looks beyond the column's own rows. What it
    would have narrowed but for that is told with the `refusal`. One SELECT on its way may be read in several
    places, of which this is then the `reading`. Casts of the column are passed, but not those of a
    union's branches: whether they lose nothing is asked where the column's type is known.
    """
    waiting = [_Step(place, column, refusal, reading)]
    # Unions of unions of the same common table expression double with each step.
    passed: set[tuple[object, ...]] = set()
    while waiting:
        step = waiting.pop()
        if step.identity in passed:
            continue
        passed.add(step.identity)
        relation = step.place.relation
        if isinstance(relation, exp.Table):
            yield Source(relation, step.column, step.refusal, step.reading, step.cause, step.expression)
        elif isinstance(relation, Scope):
            waiting += reversed(list(_steps_below(step, relation, ways)))


def _steps_below(step: _Step, relation: Scope, ways: Ways) -> Iterator[_Step]:
    if position_of(relation, step.column) is None:
        return
    refusal, reading, count = step.refusal, step.reading, ways.mentions_of(relation)
    cause = step.cause
    is_shared = reading is not None and count > 1
    if is_shared or not _lets_filters_through(relation.expression):
        cause = cause if refusal else (SHARED if is_shared else LIMITED)
        refusal = refusal or Reason.PROBE_NOT_PRUNABLE
    if count > 1:
        reading = Reading(id(relation), id(step.place.select), step.place.name, count)
    is_union = isinstance(relation.expression, exp.SetOperation)
    for select, at in _branch_positions(relation, step.column):
        cast = None if is_union else _cast_column(select.expression, at)
        said = step.expression if cast is None else over_column(step.expression, cast[1])
        # A union brings its branches to one type, which is another than that of a column below.
        refused = Reason.KEY_IS_COMPUTED if is_union and said is not None else None
        for start, reason in _below(select, at, ways.is_open, refusal or refused, cast):
            for below, name in _equal_columns(select, start, ways if reason is None else None):
                is_totalled = refusal is None and reason is Reason.PROBE_NOT_PRUNABLE
                yield _Step(below, name, reason, reading, TOTALLED if is_totalled else cause, said)


def _cast_column(select: exp.Expr, position: int) -> tuple[exp.Column, exp.Expr] | None:
    """The one column that a SELECT gives the cast of at a place, and the cast."""
    selects = select.selects if isinstance(select, exp.Select) else []
    if position >= len(selects) or any(each.is_star for each in selects):
        return None
    cast = selects[position].unalias().unnest()
    inner = cast
    while isinstance(inner, exp.Cast | exp.TsOrDsToDate | exp.Paren):
        inner = inner.this
    is_cast = inner is not cast and isinstance(inner, exp.Column) and bool(inner.table)
    return (inner, cast) if is_cast and isinstance(inner, exp.Column) else None


def over_column(expression: exp.Expr | None, column: exp.Expr) -> exp.Expr:
    """The expression over what a column is below."""
    if expression is None:
        return column

    new = exp.paren(column) if isinstance(column, exp.Binary) else column

    def below(node: exp.Expr) -> exp.Expr:
        return new.copy() if isinstance(node, exp.Column) else node

    return expression.copy().transform(below)


def _branch_positions(relation: Scope, column: str) -> Iterator[tuple[Scope, int]]:
    """The SELECTs of a relation, each with where the column stands in its list."""
    position = position_of(relation, column)
    is_by_name = bool(relation.expression.args.get("by_name"))
    for select in _branches(relation):
        at = position_of(select, column) if is_by_name else position
        if at is not None:
            yield select, at


def _equal_columns(select: Scope, start: ColumnOf, ways: Ways | None) -> Iterator[tuple[Place, str]]:
    """The column, and those that equal it in each row."""
    same = frozenset() if ways is None else ways.classes_of(select).get(start, frozenset())
    for each in sorted(same | {start}):
        _, inner = select.selected_sources.get(each.relation, (None, None))
        if inner is not None:
            yield Place(select, each.relation, inner), each.column


def _below(
    select: Scope,
    position: int,
    is_open: IsOpen,
    refusal: Reason | None,
    cast: tuple[exp.Column, exp.Expr] | None,
) -> Iterator[tuple[ColumnOf, Reason | None]]:
    """The columns that one of a SELECT is made of, each with the reason for which it is not narrowed."""
    source = source_column(select.expression, position) if cast is None else cast[0]
    if source is None:
        selects = select.expression.selects if isinstance(select.expression, exp.Select) else []
        computed = own_columns(selects[position]) if position < len(selects) else ()
        for each in dict.fromkeys(ColumnOf(column.table, column.name) for column in computed):
            yield each, refusal or Reason.KEY_IS_COMPUTED
        return
    start = ColumnOf(source.table, source.name)
    if not _keeps_rows_of(select.expression, source, *([] if cast is None else [cast[1]])):
        refusal = refusal or Reason.PROBE_NOT_PRUNABLE
    elif not is_open(select, source.table):
        refusal = refusal or Reason.PROBE_IS_PRESERVED_SIDE
    yield start, refusal


def moved_down(
    relation: Scope, asked: Sequence[Sequence[exp.Expr]], is_of_one_type: Callable[[Scope, str], bool]
) -> Iterator[tuple[Scope, Sequence[exp.Expr]]]:
    """What holds of the needed rows of each SELECT in a relation of which only some rows are needed.

    `asked` has, for each place that reads the relation, the conditions on its columns that hold of what that
    place needs. They move down as filters do, and only on columns that are columns below; into a union only
    if those are of one type, for it brings them to one before they are compared.
    """
    if len(asked) > MAX_PLACES or not _lets_filters_through(relation.expression):
        return
    if isinstance(relation.expression, exp.Union):
        asked = [
            [each for each in place if all(is_of_one_type(relation, of.name) for of in own_columns(each))]
            for place in asked
        ]
    for select in _branches(relation):
        places = [[_said_below(each, relation, select) for each in conditions] for conditions in asked]
        known = [[each for each in conditions if each is not None] for conditions in places]
        if all(known):
            yield select, known[0] if len(known) == 1 else [_one_of(known)]


def _one_of(places: Sequence[Sequence[exp.Expr]]) -> exp.Expr:
    return exp.or_(*dict.fromkeys(exp.and_(*each) for each in places))


def _said_below(condition: exp.Expr, relation: Scope, select: Scope) -> exp.Expr | None:
    """A condition on the columns of the relation as one on those of its SELECT; None where it has none."""
    copy = condition.copy()
    for each in list(own_columns(copy)):
        position = position_of(relation, each.name)
        source = None if position is None else source_column(select.expression, position)
        if source is None or each is copy or not _keeps_rows_of(select.expression, source):
            return None
        each.replace(source.copy())
    return copy


def _lets_filters_through(expression: exp.Expr) -> bool:
    if expression.args.get("limit") or expression.args.get("offset") or expression.args.get("sample"):
        return False
    outer = expression.parent
    while isinstance(outer, exp.Subquery):
        # What follows its parentheses is done to its rows: a LIMIT, a sample, a join.
        if any(value for key, value in outer.args.items() if key not in _AROUND):
            return False
        outer = outer.parent
    if isinstance(expression, exp.Union):
        if expression.args.get("by_name"):
            # Its columns are told by their places here.
            return False
        return all(_lets_filters_through(each.unnest()) for each in (expression.left, expression.right))
    return isinstance(expression, exp.Select)


def _branches(scope: Scope) -> Iterator[Scope]:
    if isinstance(scope.expression, exp.SetOperation):
        for each in scope.set_operation_scopes:
            yield from _branches(each)
    elif isinstance(scope.expression, exp.Select):
        yield scope


def _keeps_rows_of(select: exp.Expr, *keys: exp.Expr) -> bool:
    """Whether dropping all rows of some keys leaves what the other keys give as it is.

    `keys` are the column, and what is cast of it, if each of its values is told apart by that as well.
    """
    if any(each.name.lower() == _NUMBERS_ROWS for each in select.find_all(exp.Anonymous)):
        return False
    group = select.args.get("group")
    if group is not None:
        if any(value for key, value in group.args.items() if key != "expressions"):
            return False
        if not any(_selected(each.unnest(), select) in keys for each in group.expressions):
            return False
    elif any(
        _is_of(each, select)
        for each in select.find_all(exp.AggFunc)
        if each.find_ancestor(exp.Window) is None
    ):
        return False
    windows = [each for each in select.find_all(exp.Window) if _is_of(each, select)]
    return all(any(key in each.args.get("partition_by", ()) for key in keys) for each in windows)


def _selected(key: exp.Expr, select: exp.Expr) -> exp.Expr:
    """What a key of GROUP BY stands for: one that no relation has is a name that SELECT gives."""
    if not isinstance(key, exp.Column) or key.table or not isinstance(select, exp.Select):
        return key
    return next((each.unalias().unnest() for each in select.selects if each.alias == key.name), key)


def _is_of(node: exp.Expr, select: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select) is select
