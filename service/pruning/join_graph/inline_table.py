"""Renders a relation that has no joins to flatten, a list of values or a union, as a query of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import FlattenedGraph, InlineTable, Relation, relations_in
from service.pruning.conditions.renamed import renamed
from service.pruning.join_graph.flattened_columns import has_rows_of_its_joins, projections
from service.pruning.join_graph.join_paths import paths_to, reached

MAX_VALUES = 1_000
# Nested unions of one common table expression double with each step.
MAX_SELECTS = 64
MAX_TABLES = 16

FlattenedOf = Callable[[Scope], FlattenedGraph | None]
IsKnown = Callable[[Relation], bool]
IsSafeToRender = Callable[[exp.Expr], bool]


@dataclass(frozen=True, slots=True)
class _Branch:
    """One SELECT of a union, with an expression for each column; None for one that cannot be rendered."""

    columns: tuple[exp.Expr | None, ...]
    relations: Mapping[str, Relation]
    conditions: Sequence[exp.Expr] = ()
    is_filtered: bool = True


def inline_table(
    scope: Scope, flattened_of: FlattenedOf, is_known: IsKnown, is_safe_to_render: IsSafeToRender
) -> InlineTable | None:
    """Returns every row of the relation, and perhaps more, in those columns that are safe to render.

    Tables have the names of the query. None if there is no such column, or the text would be too long.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> tree = parse_one("SELECT 1 FROM (VALUES (1, rand()), (2, 3)) AS d(k, r)", read="spark")
    >>> [scope] = build_scope(tree).udtf_scopes
    >>> inline_table(scope, lambda _: None, lambda _: True, lambda value: value.find(exp.Rand) is None)
    >>> tree = parse_one("SELECT 1 FROM (VALUES (1), (2)) AS d(k)", read="spark")
    >>> [scope] = build_scope(tree).udtf_scopes
    >>> inline_table(scope, lambda _: None, lambda _: True, lambda _: True).query.sql("spark")
    'SELECT d.k AS k FROM VALUES (1), (2) AS d(k)'
    """
    match scope.expression:
        case exp.Values():
            return _values(scope.expression, is_safe_to_render)
        case exp.Union() | exp.Select():
            branches = [
                _branch(select, flattened_of, is_known, is_safe_to_render)
                for select in selects_of(scope) or ()
            ]
            known = [branch for branch in branches if branch is not None]
            return _union(scope.expression, known) if known and len(known) == len(branches) else None
        case _:
            return None


def selects_of(scope: Scope) -> list[Scope] | None:
    """Returns the SELECTs whose rows together are those of the relation; None if it is made in another way.

    Nested unions must be on the left, as without parentheses, because each union converts two types to one.
    """
    if isinstance(scope.expression, exp.Select):
        return [scope]
    if not isinstance(scope.expression, exp.Union) or scope.expression.args.get("by_name"):
        return None
    if isinstance(scope.expression.right.unnest(), exp.SetOperation):
        return None
    parts = [selects_of(operation_scope) for operation_scope in scope.set_operation_scopes]
    return None if None in parts else [branch for part in parts for branch in part or ()]


def _values(values: exp.Values, is_safe_to_render: IsSafeToRender) -> InlineTable | None:
    names = values.alias_column_names
    rows = [expression.expressions for expression in values.expressions if isinstance(expression, exp.Tuple)]
    is_table = len(rows) == len(values.expressions) and {len(row) for row in rows} == {len(names)}
    if not is_table or len(rows) > MAX_VALUES or len(set(names)) < len(names):
        return None
    if not all(_is_value(cell) and is_safe_to_render(cell) for row in rows for cell in row):
        return None
    columns = (exp.column(name, table=values.alias) for name in names)
    select = exp.select(*(exp.alias_(column, column.name) for column in columns)).from_(values.copy())
    return InlineTable(select, is_filtered=True)


def _is_value(expression: exp.Expr) -> bool:
    return expression.find(exp.Column, exp.Query, exp.Alias) is None


def _branch(
    select: Scope, flattened_of: FlattenedOf, is_known: IsKnown, is_safe_to_render: IsSafeToRender
) -> _Branch | None:
    query = select.expression
    if not isinstance(query, exp.Select) or not has_rows_of_its_joins(query):
        return None
    if query.args.get("from_") is None:
        found = [projection.unalias().unnest() for projection in query.selects]
        return _Branch(
            tuple(cell if _is_value(cell) and is_safe_to_render(cell) else None for cell in found), {}
        )
    flattened = flattened_of(select)
    if flattened is None:
        return None
    said = projections(query, flattened)
    columns = [
        projection if projection is not None and is_safe_to_render(projection) else None
        for projection in map(said.get, query.named_selects)
    ]
    return _joined(columns, flattened, is_known)


def _joined(columns: Sequence[exp.Expr | None], flattened: FlattenedGraph, is_known: IsKnown) -> _Branch:
    """Returns the branch with the relations of its columns, and those on the paths to what filters them."""
    graph = flattened.graph
    known = frozenset(name for name, relation in graph.relations.items() if is_known(relation))
    asked = [relations_in(column) for column in columns if column is not None]
    # Rows of an outer join that have no partner are rows too.
    roots = known - graph.null_supplied
    root = next((min(names) for names in asked if names and names <= roots), None)
    parents = {} if root is None else reached(graph, root, known)
    of_columns = frozenset(name for names in asked if names <= parents.keys() for name in names)
    filtered = graph.filtered & parents.keys()
    needed = paths_to(of_columns, parents)
    more = paths_to(of_columns | filtered, parents)
    needed = more if needed <= more else needed
    return _Branch(
        tuple(
            column if column is not None and relations_in(column) <= needed else None for column in columns
        ),
        {name: graph.relations[name] for name in needed},
        graph.conditions_within(needed),
        is_filtered=not needed or not needed.isdisjoint(filtered),
    )


def _union(query: exp.Query, branches: Sequence[_Branch]) -> InlineTable | None:
    names = query.named_selects
    retained = [
        position
        for position, name in enumerate(names)
        if names.count(name) == 1 and all(_at(branch, position) is not None for branch in branches)
    ]
    selects: list[exp.Query] = [
        _select(branch, {position: names[position] for position in retained}) for branch in branches
    ]
    if not retained or len(selects) > MAX_SELECTS:
        return None
    first, *others = selects
    written: exp.Query = reduce(
        lambda one, two: exp.union(one, two, distinct=False, copy=False), others, first
    )
    if (
        len(list(written.find_all(exp.Table))) > MAX_TABLES
        or len(list(written.find_all(exp.Select))) > MAX_SELECTS
    ):
        return None
    return InlineTable(written, is_filtered=all(branch.is_filtered for branch in branches))


def _at(branch: _Branch, position: int) -> exp.Expr | None:
    return branch.columns[position] if position < len(branch.columns) else None


def _select(branch: _Branch, columns: Mapping[int, str]) -> exp.Select:
    # Other names for the same relations must not change the query.
    order = sorted(branch.relations, key=lambda name: (_label(branch.relations[name]), name))
    alias = {name: f"u{position}" for position, name in enumerate(order)}
    select = exp.select(
        *(exp.alias_(renamed(_said(branch, at), alias), name, quoted=True) for at, name in columns.items())
    )
    for position, name in enumerate(order):
        source = _named(branch.relations[name], alias[name])
        select = select.join(source, join_type="cross") if position else select.from_(source)
    return select.where(*(renamed(condition, alias) for condition in branch.conditions))


def _said(branch: _Branch, position: int) -> exp.Expr:
    column = branch.columns[position]
    # In a branch without one of the columns, the others would move to wrong positions.
    assert column is not None
    return column


def _label(relation: Relation) -> str:
    match relation:
        case InlineTable():
            return relation.query.sql("spark")
        case exp.Table():
            return f"{relation.catalog}.{relation.db}.{relation.name}"
        case _:
            return ""


def _named(relation: Relation, alias: str) -> exp.Expr:
    if isinstance(relation, InlineTable):
        return relation.query.copy().subquery(alias)
    assert isinstance(relation, exp.Table)
    table: exp.Expr = relation.copy()
    table.set("joins", None)
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return table
