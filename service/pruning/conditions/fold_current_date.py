"""Replaces the current day in conditions by the days that it may be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sqlglot import exp


def fold_current_date(condition: exp.Expr, days: Sequence[date]) -> exp.Expr:
    """Returns a condition that is true at least wherever this one is true on one of the days.

    The query reads the clock after its filters did, so it may be the next day by then.

    >>> from sqlglot import parse_one
    >>> days = [date(2000, 2, 28), date(2000, 2, 29)]
    >>> fold_current_date(parse_one("d.day > current_date()", read="spark"), days).sql("spark")
    "d.day > CAST('2000-02-28' AS DATE) OR d.day > CAST('2000-02-29' AS DATE)"
    """
    asked = list(condition.find_all(exp.CurrentDate))
    if not asked or not days or any(node.args.get("this") for node in asked):
        return condition
    return exp.or_(*(_on(condition, day) for day in days), copy=False)


def _on(condition: exp.Expr, day: date) -> exp.Expr:
    literal = exp.cast(exp.Literal.string(day.isoformat()), exp.DType.DATE)
    return condition.transform(lambda node: literal.copy() if isinstance(node, exp.CurrentDate) else node)
