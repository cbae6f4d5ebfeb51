"""Where the values of a column come from: columns of tables, or literals in the text."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import Relation
from service.pruning.conditions.literal_type import literal_type
from service.pruning.join_graph.inline_table import selects_of

BaseColumn = tuple[exp.Table, str] | exp.Expr
"""A column of a table, or a literal in the text."""


def base_columns(relation: Relation, column: str) -> list[BaseColumn] | None:
    """Returns the sources of a column's values, for each branch of a union and each row of a list.

    None if the values are computed. A source that several branches read in one place is listed once.
    """
    found = _Bases().of(relation, column)
    return None if found is None else list(found.values())


class _Bases:
    """Looks at each column once, because unions of one common table expression double with each step."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Mapping[object, BaseColumn] | None] = {}

    def of(self, relation: Relation, column: str) -> Mapping[object, BaseColumn] | None:
        """Returns the sources by their identities."""
        key = id(relation), column
        if key not in self._known:
            self._known[key] = self._found(relation, column)
        return self._known[key]

    def _found(self, relation: Relation, column: str) -> Mapping[object, BaseColumn] | None:
        if isinstance(relation, exp.Table):
            return {(id(relation), column): (relation, column)}
        if not isinstance(relation, Scope):
            return None
        if isinstance(relation.expression, exp.Values):
            return _listed(relation.expression, column)
        position, selects = position_of(relation, column), selects_of(relation)
        if position is None or selects is None:
            return None
        found: dict[object, BaseColumn] = {}
        for select in selects:
            below = self._of_select(select, position)
            if below is None:
                return None
            found |= below
        return found

    def _of_select(self, select: Scope, position: int) -> Mapping[object, BaseColumn] | None:
        selects = select.expression.selects if isinstance(select.expression, exp.Select) else []
        literal = selects[position].unalias().unnest() if position < len(selects) else None
        if literal is not None and literal_type(literal) is not None:
            return {id(literal): literal}
        source = source_column(select.expression, position)
        if source is None or source.table not in select.selected_sources:
            return None
        _, inner = select.selected_sources[source.table]
        return self.of(inner, source.name)


def _listed(values: exp.Values, column: str) -> Mapping[object, BaseColumn] | None:
    names = [identifier.name for identifier in values.args["alias"].args.get("columns") or ()]
    if names.count(column) != 1:
        return None
    rows = [expression.expressions for expression in values.expressions]
    at = names.index(column)
    is_table = all(len(row) == len(names) for row in rows)
    return {id(row[at]): row[at] for row in rows} if is_table else None


def position_of(scope: Scope, column: str) -> int | None:
    """Returns a column's position in the rows of a query; None where that is not certain."""
    query = scope.expression
    names = query.named_selects if isinstance(query, exp.Query) else []
    return names.index(column) if names.count(column) == 1 else None


def source_column(select: exp.Expr, position: int) -> exp.Column | None:
    """Returns the column that a SELECT passes on unchanged at a position; None if it computes a value."""
    selects = select.selects if isinstance(select, exp.Select) else []
    if position >= len(selects) or any(projection.is_star for projection in selects):
        return None
    source = selects[position].unalias().unnest()
    return source if isinstance(source, exp.Column) and source.table else None
