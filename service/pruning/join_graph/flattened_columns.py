"""The columns of a SELECT in terms of the tables below it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from service.model.filters.joins import ColumnOf, FlattenedGraph, Relation, has_column, own_columns

MAX_EXPRESSION_NODES = 48

# These clauses may remove rows of a SELECT, but do not change them. GROUP BY is checked by itself.
_CLAUSES = {
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "distinct",
    "qualify",
    "order",
    "sort",
    "cluster",
    "distribute",
    "limit",
    "offset",
    "sample",
    "with_",
    "hint",
}


def has_rows_of_its_joins(select: exp.Expr) -> bool:
    """Whether each row of the SELECT has the values of a row of its joins, aggregates aside."""
    if not isinstance(select, exp.Select) or any(
        value for key, value in select.args.items() if key not in _CLAUSES
    ):
        return False
    outer = select.parent
    while isinstance(outer, exp.Subquery):
        if outer.args.get("pivots"):
            return False
        outer = outer.parent
    group = select.args.get("group")
    if group is not None:
        # ROLLUP and its like put NULL in the place of keys.
        is_plain = not any(value for key, value in group.args.items() if key != "expressions")
        return is_plain and group.find(exp.Rollup, exp.Cube, exp.GroupingSets) is None
    # An aggregate over all rows yields a row even if there are none.
    return select.args.get("having") is None and not any(
        aggregate.find_ancestor(exp.Select) is select
        for aggregate in select.find_all(exp.AggFunc)
        if aggregate.find_ancestor(exp.Window) is None
    )


def projections(select: exp.Expr, inner: FlattenedGraph) -> Mapping[str, exp.Expr]:
    """Returns the columns of the SELECT list in terms of the flattened relations."""
    if not isinstance(select, exp.Select) or select.is_star:
        return {}
    names = select.named_selects
    found: dict[str, exp.Expr] = {}
    for name, projection in zip(names, select.selects, strict=True):
        said = with_columns_of(projection.unalias().unnest(), inner.graph.relations, inner.columns)
        if said is not None and names.count(name) == 1 and said.find(exp.Query) is None:
            found[name] = said
    return found


def with_columns_of(
    expression: exp.Expr, relations: Mapping[str, Relation], columns: Mapping[ColumnOf, exp.Expr]
) -> exp.Expr | None:
    """Returns a copy in which columns of flattened relations are replaced by what they stand for.

    None where that is not known, or where the copy would be too large.
    """
    copy = expression.copy()
    for column in list(own_columns(copy)):
        relation = relations.get(column.table)
        if relation is not None:
            if has_column(relation, column.name):
                continue
            return None
        stands_for = columns.get(ColumnOf(column.table, column.name))
        if stands_for is None:
            return None
        new = stands_for.copy() if isinstance(stands_for, exp.Column) else exp.paren(stands_for)
        if column is copy:
            return new
        column.replace(new)
    return (
        copy if sum(1 for _ in copy.walk()) <= MAX_EXPRESSION_NODES + len(list(expression.walk())) else None
    )
