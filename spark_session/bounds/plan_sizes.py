"""Checks that a plan stays within the bounds, once analyzed and again when Spark has planned its tasks."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.statement_errors import QueryTooLarge
from spark_session.bounds.query_bounds import QueryBounds

Part = tuple[str, float]
"""A kind of part, and how many of it there are; `PlanSizes.java` writes them."""


def allow_plan(parts: Sequence[Part], bounds: QueryBounds) -> None:
    """Checks that no node of the analyzed plan needs too many partitions or copies.

    >>> allow_plan([("range", 4), ("copies", 16)], QueryBounds())
    >>> allow_plan([("REPARTITION", 20)], QueryBounds(partitions=10))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.QueryTooLarge: REPARTITION asks for 20 partitions; 10 are...

    Raises:
        QueryTooLarge: a node needs too many.
    """
    for what, count in parts:
        if what == "copies":
            _allow_copies(count, bounds)
        elif what == "uses":
            _allow_uses(count)
        elif what == "bytes":
            _allow_bytes(count, bounds)
        elif count > bounds.partitions:
            raise QueryTooLarge(
                f"{what} asks for {count:,.0f} partitions; {bounds.partitions:,} are allowed "
                "(setting max_partitions)."
            )


# A column made of two copies of itself, through thirty subqueries, is an expression of a billion parts.
MAX_USES = 100_000


def _allow_uses(count: float) -> None:
    if count > MAX_USES:
        raise QueryTooLarge(
            f"A column uses others {count:,.0f} times, counted through all subqueries that it is made in; "
            f"{MAX_USES:,} are allowed. Let a subquery aggregate, or use the column once."
        )


def _allow_bytes(count: float, bounds: QueryBounds) -> None:
    if count > bounds.value_bytes:
        raise QueryTooLarge(
            f"A column that is made of others through subqueries could have {count:,.0f} bytes; "
            f"{bounds.value_bytes:,} are allowed (setting max_value_bytes)."
        )


def _allow_copies(count: float, bounds: QueryBounds) -> None:
    if count > bounds.row_copies:
        raise QueryTooLarge(
            f"The query makes {count:,.0f} rows of each; {bounds.row_copies:,} are allowed "
            "(setting max_row_copies)."
        )


def allow_tasks(parts: Sequence[Part], bounds: QueryBounds) -> None:
    """Checks that the tasks of the planned query, in all its stages, are within the bound.

    >>> allow_tasks([("scan of lake.shop.sales", 90_000), ("exchange", 10_000)], QueryBounds())

    Raises:
        QueryTooLarge: there are more.
    """
    total = sum(count for _, count in parts)
    if total > bounds.tasks:
        what, most = max(parts, key=lambda part: part[1])
        raise QueryTooLarge(
            f"The plan has {total:,.0f} tasks, {most:,.0f} of them for its {what}; {bounds.tasks:,} are "
            "allowed (setting max_query_tasks). Ask for fewer partitions, or filter more of what is read."
        )
