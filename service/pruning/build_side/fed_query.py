"""A query for keys that is itself filtered by the keys of another filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from service.model.filters.filtering import DynamicFilteringData, Feed
from service.model.filters.keys import converted_range
from service.pruning.predicates.predicate import predicate, ranges_predicate
from service.pruning.scan_layout.reaches_lowest_bucket import may_reach_lowest_bucket


def fed_query(sql: str, feeds: Iterable[tuple[Feed, DynamicFilteringData]], max_ranges: int) -> str:
    """Returns a query for the same keys that reads fewer files.

    The added conditions hold for every row of the query anyway. `sql` must end with its WHERE. A list has at
    most `max_ranges` values.

    >>> keys = DynamicFilteringData(((1,), (2,), (3,), (4,)), is_filtering=True)
    >>> fed_query("SELECT t0.j FROM t AS t0 WHERE t0.x = 1", [(Feed("", "t0", "k", "int"), keys)], 32)
    'SELECT t0.j FROM t AS t0 WHERE t0.x = 1 AND (`t0`.`k` BETWEEN 1 AND 4)'
    """
    return " AND ".join([sql, *_conditions(feeds, max_ranges)])


def _conditions(feeds: Iterable[tuple[Feed, DynamicFilteringData]], max_ranges: int) -> Iterator[str]:
    for feed, data in feeds:
        if not data.is_filtering:
            continue
        found = (converted_range(feed.type_name, each) for each in data.ranges)
        ranges = [each for each in found if each is not None]
        formed = (
            ranges_predicate(feed.column, feed.type_name, ranges, max_ranges)
            if data.ranges
            else predicate(feed.column, feed.type_name, data.values, max_ranges, max_ranges)
        )
        if may_reach_lowest_bucket(formed.ranges):
            continue
        yield formed.condition.transform(_of, feed.alias).sql("spark")


def _of(node: exp.Expr, alias: str) -> exp.Expr:
    return exp.column(node.name, table=alias, quoted=True) if isinstance(node, exp.Column) else node
