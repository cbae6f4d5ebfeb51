"""What the values of a column are: those of columns of tables, or values that stand in the text."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import Relation
from service.pruning.conditions.literal_type import literal_type
from service.pruning.join_graph.written_rows import selects_of

BaseColumn = tuple[exp.Table, str] | exp.Expr
"""A column of a table, or a value that stands in the text."""


def base_columns(relation: Relation, column: str) -> list[BaseColumn] | None:
    """What the values are, for each branch of a union and each row of a list; None: they are computed.

    What several branches read in one place is there once.
    """
    found = _Bases().of(relation, column)
    return None if found is None else list(found.values())


class _Bases:
    """Looks at each column once: unions of the same common table expression double with each step."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Mapping[object, BaseColumn] | None] = {}

    def of(self, relation: Relation, column: str) -> Mapping[object, BaseColumn] | None:
        """By what tells them apart."""
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
    names = [each.name for each in values.args["alias"].args.get("columns") or ()]
    if names.count(column) != 1:
        return None
    rows = [each.expressions for each in values.expressions]
    at = names.index(column)
    is_table = all(len(row) == len(names) for row in rows)
    return {id(row[at]): row[at] for row in rows} if is_table else None


def position_of(scope: Scope, column: str) -> int | None:
    """Where a column stands in what a query yields; None where that is not certain."""
    query = scope.expression
    names = query.named_selects if isinstance(query, exp.Query) else []
    return names.index(column) if names.count(column) == 1 else None


def source_column(select: exp.Expr, position: int) -> exp.Column | None:
    """The column that a SELECT gives at a place as it is; None where it computes what it gives."""
    selects = select.selects if isinstance(select, exp.Select) else []
    if position >= len(selects) or any(each.is_star for each in selects):
        return None
    source = selects[position].unalias().unnest()
    return source if isinstance(source, exp.Column) and source.table else None
