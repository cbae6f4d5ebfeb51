"""A query for keys that is itself filtered by the keys of another filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from service.model.filters.dynamic_filter import KeyDependency
from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.keys import converted_range
from service.pruning.predicates.predicate import predicate, ranges_predicate
from service.pruning.scan_layout.reaches_lowest_bucket import may_reach_lowest_bucket


def chained_query(
    sql: str, key_dependencies: Iterable[tuple[KeyDependency, DynamicFilteringData]], max_ranges: int
) -> str:
    """Returns a query for the same keys that reads fewer files.

    The added conditions hold for every row of the query anyway. `sql` must end with its WHERE. A list has at
    most `max_ranges` values.

    >>> keys = DynamicFilteringData(((1,), (2,), (3,), (4,)), is_filtering=True)
    >>> by_keys = KeyDependency("", "t0", "k", "int")
    >>> chained_query("SELECT t0.j FROM t AS t0 WHERE t0.x = 1", [(by_keys, keys)], 32)
    'SELECT t0.j FROM t AS t0 WHERE t0.x = 1 AND (`t0`.`k` BETWEEN 1 AND 4)'
    """
    return " AND ".join([sql, *_conditions(key_dependencies, max_ranges)])


def _conditions(
    key_dependencies: Iterable[tuple[KeyDependency, DynamicFilteringData]], max_ranges: int
) -> Iterator[str]:
    for dependency, data in key_dependencies:
        if not data.is_filtering:
            continue
        found = (converted_range(dependency.type_name, range_) for range_ in data.ranges)
        ranges = [range_ for range_ in found if range_ is not None]
        formed = (
            ranges_predicate(dependency.column, dependency.type_name, ranges, max_ranges)
            if data.ranges
            else predicate(dependency.column, dependency.type_name, data.values, max_ranges, max_ranges)
        )
        if may_reach_lowest_bucket(formed.ranges):
            continue
        yield formed.condition.transform(_of, dependency.alias).sql("spark")


def _of(node: exp.Expr, alias: str) -> exp.Expr:
    return exp.column(node.name, table=alias, quoted=True) if isinstance(node, exp.Column) else node
