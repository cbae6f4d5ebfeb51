"""Conditions with other names for the relations that they are on."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from service.model.joins import own_columns


def renamed(expression: exp.Expr, names: Mapping[str, str], quoted: bool | None = None) -> exp.Expr:
    """A copy in which each column names its relation so. Subqueries keep theirs: what they name is inside.

    >>> from sqlglot import parse_one
    >>> renamed(parse_one("d.x = 1 AND d.k IN (SELECT d.k FROM d)"), {"d": "t0"}).sql()
    't0.x = 1 AND t0.k IN (SELECT d.k FROM d)'
    """
    copy = expression.copy()
    for column in own_columns(copy):
        column.set("table", exp.to_identifier(names[column.table], quoted=quoted))
    return copy
