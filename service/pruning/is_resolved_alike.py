"""Are the names of a qualified query those that Spark resolves them to?"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.tables import TableFacts
from service.pruning.qualify import needs_all_columns

FactsOf = Callable[[exp.Table], TableFacts | None]


def is_resolved_alike(root: Scope, facts_of: FactsOf) -> bool:
    """False where columns that are not known, or fields of structs, may take a name from those that are.

    USING means the first relation that has the column, of all that stand before it; behind a star, places
    are those of all columns that there are. And `a.b` in a subquery is a field of its own relations' column
    `a` before it is a column of a relation `a` further out.
    """
    return all(_is_alike(scope, facts_of) for scope in root.traverse())


def _is_alike(scope: Scope, facts_of: FactsOf) -> bool:
    further_out = scope.external_columns if scope.can_be_correlated else []
    outer = {each.table for each in further_out if each.table}
    if not outer and not needs_all_columns(scope.expression):
        return True
    columns = [_columns_of(source, facts_of) for _, source in scope.selected_sources.values()]
    return all(known is not None and known.isdisjoint(outer) for known in columns)


def _columns_of(source: exp.Expr | Scope, facts_of: FactsOf) -> frozenset[str] | None:
    """The names of a relation's columns in lower case; None when not all are known."""
    if isinstance(source, exp.Table):
        facts = facts_of(source)
        return None if facts is None else frozenset(each.name.lower() for each in facts.columns)
    if not isinstance(source, Scope):
        return None
    query = source.expression
    names = query.named_selects if isinstance(query, exp.Query) else query.alias_column_names
    return None if not names or "*" in names else frozenset(each.lower() for each in names)
