"""Does Spark resolve the names of a query as the qualifier has resolved them?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.tables.tables import TableFacts
from service.pruning.name_resolution.joins_what_it_names import joins_what_it_names
from service.pruning.name_resolution.qualify import needs_all_columns
from service.pruning.name_resolution.unnamed_columns import are_named

FactsOf = Callable[[exp.Table], TableFacts | None]
Known = Mapping[str, frozenset[str] | None]
"""The columns of each relation, by its name; None when not all are known."""


def matches_spark_resolution(root: Scope, facts_of: FactsOf) -> bool:
    """Returns False if a name may mean an unknown column, or a field of a struct, instead of a known column.

    USING means the first relation before it that has the column. After a star, positions depend on all
    columns. In a subquery, `a.b` is a field of a column `a` of its own relations before it is a column of a
    relation `a` further out. The same is true in an ON that does not see `a`, and if it is not known whether
    the relation `a` has a column `b`.
    """
    return all(_is_alike(scope, facts_of) for scope in root.traverse())


def _is_alike(scope: Scope, facts_of: FactsOf) -> bool:
    known = {name: _columns_of(source, facts_of) for name, (_, source) in scope.selected_sources.items()}
    if any(columns is None and _is_another(name, scope, known) for name, columns in known.items()):
        return False
    select = scope.expression
    if isinstance(select, exp.Select) and not joins_what_it_names(
        select, lambda name: _may_be_another(name, scope, known)
    ):
        return False
    if isinstance(select, exp.Select) and not _is_having_of_its_own(select, known):
        return False
    return _are_outer_names_clear(scope, known)


def _is_having_of_its_own(select: exp.Select, known: Known) -> bool:
    """Whether each name in HAVING is a column of the relations or of the SELECT.

    Other names stay without a relation, and no scope reports them. They are columns further out, variables of
    the session, or functions that need no parentheses.
    """
    having = select.args.get("having")
    if having is None:
        return True
    own = {name.lower() for columns in known.values() for name in columns or ()}
    own.update(named_select.lower() for named_select in select.named_selects)
    bare = (column for column in having.find_all(exp.Column) if not column.table)
    return all(column.name.lower() in own for column in bare if column.find_ancestor(exp.Select) is select)


def _may_be_another(name: str, scope: Scope, known: Known) -> bool:
    """Whether `name.x` may be a field of a column, or a column further out, if no relation has the name."""
    return scope.can_be_correlated or any(columns is None or name in columns for columns in known.values())


def _is_another(name: str, scope: Scope, known: Known) -> bool:
    """Whether something else has the name of this relation, which may lack the columns that are read."""
    if any(columns is not None and name in columns for columns in known.values()):
        return True
    outer = scope.parent if scope.can_be_correlated else None
    while outer is not None:
        if name in outer.selected_sources:
            return True
        outer = outer.parent
    return False


def _are_outer_names_clear(scope: Scope, known: Known) -> bool:
    further_out = scope.external_columns if scope.can_be_correlated else []
    outer = {column.table for column in further_out if column.table}
    if not outer and not needs_all_columns(scope.expression):
        return True
    return all(columns is not None and columns.isdisjoint(outer) for columns in known.values())


def _columns_of(source: exp.Expr | Scope, facts_of: FactsOf) -> frozenset[str] | None:
    """Returns the names of a relation's columns in lower case; None when not all are known."""
    if isinstance(source, exp.Table):
        facts = None if source.args.get("pivots") else facts_of(source)
        return None if facts is None else frozenset(column.name.lower() for column in facts.columns)
    if not isinstance(source, Scope):
        return None
    query = source.expression
    names = query.named_selects if isinstance(query, exp.Query) else query.alias_column_names
    are_known = names and "*" not in names and are_named(names)
    return frozenset(name.lower() for name in names) if are_known else None
