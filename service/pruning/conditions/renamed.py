"""Renames the relations in conditions, and writes conditions as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from service.model.filters.joins import own_columns
from service.pruning.conditions.spelled import spelled


def renamed(expression: exp.Expr, names: Mapping[str, str], quoted: bool | None = None) -> exp.Expr:
    """Returns a copy whose columns use the new relation names; subqueries keep their own names.

    >>> from sqlglot import parse_one
    >>> renamed(parse_one("d.x = 1 AND d.k IN (SELECT d.k FROM d)"), {"d": "t0"}).sql()
    't0.x = 1 AND t0.k IN (SELECT d.k FROM d)'
    """
    copy = expression.copy()
    for column in own_columns(copy):
        column.set("table", exp.to_identifier(names[column.table], quoted=quoted))
    return copy


def renamed_and_readable(
    condition: exp.Expr, names: Mapping[str, str], *, is_of_one: bool
) -> tuple[exp.Expr, str]:
    """Returns such a copy, and the text for people; with `is_of_one`, the text leaves out the relation.

    >>> from sqlglot import parse_one
    >>> found, text = renamed_and_readable(parse_one("d.x = 1"), {"d": "t0"}, is_of_one=True)
    >>> found.sql(), text
    ('t0.x = 1', 'x = 1')
    """
    copy = condition.copy()
    columns = [(column, column.table) for column in own_columns(copy)]
    for column, _ in columns if is_of_one else ():
        column.set("table", None)
    text = spelled(copy)
    for column, relation in columns:
        column.set("table", exp.to_identifier(names[relation]))
    return copy, text


def all_readable(conditions: Sequence[tuple[exp.Expr, str]]) -> str:
    """Joins the texts of conditions by AND, with parentheses around each OR."""
    if len(conditions) == 1:
        return conditions[0][1]
    return " AND ".join(
        f"({text})" if isinstance(condition, exp.Or) else text for condition, text in conditions
    )
