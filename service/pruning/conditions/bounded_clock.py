"""Replaces the current time in comparisons by the earliest or the latest moment that it can be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from sqlglot import exp

# One month later, four days in a row may all have become the last day of February.
_PAST_THE_LAST = timedelta(days=4)
# These may read the clock, depending on their arguments.
_CLOCKS = (exp.Anonymous, exp.CurrentTimestamp, exp.Localtimestamp)


def bounded_clock(condition: exp.Expr, days: Sequence[date]) -> exp.Expr:
    """Returns a condition that is true at least wherever this one is true at some moment of the days.

    The query reads the clock after its filters did. In a comparison, a midnight before or after any such
    moment replaces the clock, so that the keys are the same for all queries of a day. The day of the clock
    becomes `current_date()`. No bounds are known for other expressions over the clock: a condition with one
    stays as it is.

    >>> from sqlglot import parse_one
    >>> days = [date(2000, 2, 28), date(2000, 2, 29)]
    >>> bounded_clock(parse_one("d.at > now() - INTERVAL 2 HOURS", read="spark"), days).sql("spark")
    "d.at >= CAST('2000-02-28' AS DATE) + INTERVAL '0' HOUR - INTERVAL '2' HOURS"
    """
    if not days or not _asks_moment(condition):
        return condition
    return _Bounds(days[0], days[-1] + _PAST_THE_LAST).condition(condition.transform(_day_of_clock))


def has_clock(expression: exp.Expr) -> bool:
    """Whether the expression has a clock or a current day that could be replaced."""
    found = expression.find_all(*_CLOCKS, exp.CurrentDate)
    return any(_is_clock(node) or isinstance(node, exp.CurrentDate) for node in found)


class _Bounds:
    """Two midnights: the clock is not before the first, and is before the second."""

    def __init__(self, earliest: date, latest: date) -> None:
        self._earliest = earliest
        self._latest = latest

    def condition(self, node: exp.Expr) -> exp.Expr:
        """Widens comparisons, so it does not look into NOT, CASE and others that may invert them."""
        match node:
            case exp.Paren():
                return exp.paren(self.condition(node.this), copy=False)
            case exp.And() | exp.Or():
                sides = (self.condition(node.left), self.condition(node.right))
                return type(node)(this=sides[0], expression=sides[1])
            case exp.GT() | exp.GTE():
                return self._comparison(node.left, node.right) or node
            case exp.LT() | exp.LTE():
                return self._comparison(node.right, node.left) or node
            case exp.Between() if not node.args.get("symmetric"):
                low = self._comparison(node.this, node.args["low"])
                high = self._comparison(node.args["high"], node.this)
                return node if low is None or high is None else exp.paren(exp.and_(low, high))
            case _:
                return node

    def _comparison(self, great: exp.Expr, small: exp.Expr) -> exp.Expr | None:
        """Returns `great >= small` with the clock at its bound; None if the clock's side has no known one."""
        if _asks_moment(great) is _asks_moment(small):
            return None
        great_at_most, small_at_least = _at(great, self._latest), _at(small, self._earliest)
        if great_at_most is None or small_at_least is None:
            return None
        if _asks_moment(small):
            return exp.GTE(this=great_at_most, expression=small_at_least)
        return exp.LTE(this=small_at_least, expression=great_at_most)


def _at(side: exp.Expr, midnight: date) -> exp.Expr | None:
    """Returns the side of a comparison with the midnight in the clock's place; None if it is not a bound.

    Only one interval may be added or subtracted: after hours, a month may reverse the order of moments.
    """
    side = side.unnest()
    if not _asks_moment(side):
        return side.copy()
    day = exp.cast(exp.Literal.string(midnight.isoformat()), exp.DType.DATE)
    # A day plus hours, even zero hours, is a moment: text is compared with it as with the clock.
    moment = exp.Add(this=day, expression=exp.Interval(this=exp.Literal.string("0"), unit=exp.var("HOUR")))
    if _is_zoned(side):
        return moment
    if isinstance(side, exp.Add | exp.Sub) and _is_zoned(side.left) and _is_fixed(side.right):
        return type(side)(this=moment, expression=side.right.copy())
    return None


def _is_fixed(interval: exp.Expr) -> bool:
    return isinstance(interval, exp.Interval) and isinstance(interval.this, exp.Literal)


def _day_of_clock(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.TsOrDsToDate() | exp.Cast() if _is_clock(node.this) and not node.args.get("format"):
            is_day = isinstance(node, exp.TsOrDsToDate) or node.args["to"].this == exp.DType.DATE
            return exp.CurrentDate() if is_day else node
        case exp.TsOrDsAdd() | exp.AddMonths() if _is_clock(node.this):
            node.set("this", exp.CurrentDate())
            return node
        case _:
            return node


def _asks_moment(expression: exp.Expr) -> bool:
    return any(map(_is_clock, expression.find_all(*_CLOCKS)))


def _is_clock(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() == "now" and not node.expressions
    return isinstance(node, exp.CurrentTimestamp | exp.Localtimestamp) and not node.args.get("this")


def _is_zoned(node: exp.Expr) -> bool:
    """Whether the node is a clock with a zone: text is compared in another way with one without."""
    return _is_clock(node) and not isinstance(node, exp.Localtimestamp)
