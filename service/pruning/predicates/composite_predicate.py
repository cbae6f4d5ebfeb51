"""The predicate for composite keys, on all of their columns together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from sqlglot import exp

from service.model.filters.column_values import ColumnValues
from service.model.filters.dynamic_filter import Probe
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm, Key, KeyValue
from service.model.filters.keys import are_of_types, converted
from service.model.filters.partition_tuples import PartitionTuples
from service.pruning.predicates.predicate import FormedPredicate, list_predicate, ranges_predicate

# As many as fit in 32 MiB. To remove those that the probe cannot hold takes half a second.
MAX_TUPLES = 2_000_000
# To group more would take longer than the filter is likely to save.
MAX_POSSIBLE_TUPLES = 100_000
# Iceberg uses no statistics for longer lists.
MAX_IN_STATISTICS = 200
# Values in all tuples. The search for alternatives tries each column as the first, and then the others.
MAX_SORTED_VALUES = 200_000

_Part = tuple[tuple[KeyValue, ...], ...]
"""A list of values for each column. Every combination of them is a tuple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleBounds:
    """The bounds of predicates on several columns: alternatives, and values in all of them together.

    `are_compared`: the scan can also compare the tuples themselves with its files.
    """

    max_parts: int
    max_values: int
    are_compared: bool = False


NO_TUPLES = TupleBounds(max_parts=0, max_values=0)


def composite_predicate(
    probe: Probe,
    keys: Sequence[Key],
    column_values: Sequence[ColumnValues | None],
    bounds: TupleBounds,
    partitions: PartitionTuples | None = None,
) -> FormedPredicate | Reason:
    """Returns a condition that is true of the rows with one of the tuples, or the reason why there is none.

    `column_values` has the values of each column, and `partitions` their combinations, as far as they are
    known. Tuples that no row has are left out. The condition is true of no other existing row, unless it
    would be too long: then neighbouring tuples become ranges of each column. If only one range would be left,
    there is no condition, because a filter on each column says the same; unless the scan compares the tuples.

    >>> from service.model.tables.tables import TableName
    >>> probe = Probe(TableName("c", "s", "t"), ("a", "b"), ("int", "int"), 1)
    >>> keys = [(1, 7), (2, 7), (3, 8), (3, 9)]
    >>> formed = composite_predicate(probe, keys, [None, None], TupleBounds(max_parts=32, max_values=200))
    >>> formed.condition.sql("spark")
    '((`a` IN (1, 2) AND `b` IN (7)) OR (`a` IN (3) AND `b` IN (8, 9)))'
    >>> bounds = TupleBounds(max_parts=2, max_values=200)
    >>> formed = composite_predicate(probe, [*keys, (9, 1)], [None, None], bounds)
    >>> formed.condition.sql("spark")
    '((`a` BETWEEN 1 AND 2 AND `b` = 7) OR (`a` BETWEEN 3 AND 9 AND `b` BETWEEN 1 AND 9))'
    """
    if len(keys) > MAX_TUPLES:
        return Reason.RANGES_ONLY
    possible = _possible_tuples(probe, keys, column_values, partitions)
    if not possible:
        return FormedPredicate(exp.false(), FilterForm.EMPTY)
    if len(possible) > MAX_POSSIBLE_TUPLES:
        return _one_range(probe, possible, bounds)
    if _is_all(possible, column_values) or _has_all(possible, probe, partitions):
        return Reason.NOT_SELECTIVE
    parts = _fewest_parts(possible, bounds.max_parts) if _may_be_listed(possible, bounds) else []
    if 0 < len(parts) <= bounds.max_parts and _count(parts) <= bounds.max_values:
        lists = FormedPredicate(_any_of(_lists(probe, part) for part in parts), FilterForm.IN)
        return replace(lists, has_tuples=bounds.are_compared and _may_keep_more(parts))
    if bounds.max_parts < 2:
        return _one_range(probe, possible, bounds)
    merged = _merged(sorted(possible), min(bounds.max_parts, bounds.max_values // (2 * len(probe.columns))))
    if len(merged) < 2:
        return _one_range(probe, possible, bounds)
    ranges = _any_of(_ranges(probe, range_) for range_ in merged)
    return FormedPredicate(ranges, FilterForm.RANGES, has_tuples=bounds.are_compared)


def _one_range(
    probe: Probe, possible: Collection[tuple[Any, ...]], bounds: TupleBounds
) -> FormedPredicate | Reason:
    """Returns the range of each column, for a scan that compares the tuples as well."""
    if not bounds.are_compared:
        return Reason.RANGES_ONLY
    ends = tuple((min(column), max(column)) for column in zip(*possible, strict=True))
    return FormedPredicate(_ranges(probe, ends), FilterForm.RANGES, has_tuples=True)


def _may_keep_more(parts: Sequence[_Part]) -> bool:
    """Whether Iceberg may keep a file that can have none of the tuples.

    It looks at a file's partition, and then at its bounds. Each of them may meet another alternative.
    """
    return len(parts) > 1 or any(len(values) > MAX_IN_STATISTICS for values in parts[0])


def _possible_tuples(
    probe: Probe,
    keys: Sequence[Key],
    column_values: Sequence[ColumnValues | None],
    partitions: PartitionTuples | None,
) -> Collection[tuple[Any, ...]]:
    """Returns the tuples in the probe's types, without those that no row of the probe has.

    Each is there once, unless they are more than may be grouped.
    """
    kept = _possible_keys(keys, column_values)
    if are_of_types(probe.type_names, kept):
        if partitions is None and len(kept) > MAX_POSSIBLE_TUPLES:
            return kept
        found: set[tuple[Any, ...]] = set(kept)
    else:
        found = {each for key in kept if (each := _converted(probe, key)) is not None}
    return found if partitions is None else partitions.matching(probe.columns, found)


def _possible_keys(keys: Sequence[Key], column_values: Sequence[ColumnValues | None]) -> Sequence[Key]:
    """Returns the keys without those that have a value which the probe cannot hold."""
    for position, value in enumerate(column_values):
        if value is None or not value.is_pinned:
            continue
        if value.values is not None:
            known = frozenset(value.values)
            keys = [key for key in keys if key[position] in known]
        elif value.lower is None or value.upper is None:
            return ()
        else:
            lower: Any = value.lower
            upper: Any = value.upper
            keys = [key for key in keys if lower <= key[position] <= upper]
    return keys


def _is_all(possible: Collection[tuple[Any, ...]], column_values: Sequence[ColumnValues | None]) -> bool:
    """Whether every combination of the values that the columns hold is among the tuples."""
    values = [
        value.values
        for value in column_values
        if value is not None and value.is_pinned and value.values is not None
    ]
    return len(values) == len(column_values) and prod(map(len, values)) == len(possible)


def _has_all(possible: Collection[tuple[Any, ...]], probe: Probe, partitions: PartitionTuples | None) -> bool:
    """Whether every partition has one of the tuples."""
    is_of_all = partitions is not None and partitions.columns == probe.columns
    return is_of_all and partitions is not None and len(possible) == len(partitions.tuples)


def _converted(probe: Probe, key: Key) -> tuple[Any, ...] | None:
    values = tuple(map(converted, probe.type_names, key))
    return None if None in values else values


def _may_be_listed(tuples: Collection[tuple[Any, ...]], bounds: TupleBounds) -> bool:
    is_sortable = len(tuples) * len(next(iter(tuples))) <= MAX_SORTED_VALUES
    return is_sortable and _value_count(tuples) <= bounds.max_values


def _fewest_parts(tuples: Collection[tuple[Any, ...]], at_most: int) -> list[_Part]:
    """Groups the tuples by the column that gives the fewest parts when it comes first; [] for too many."""
    found: list[_Part] = []
    for first in range(len(next(iter(tuples)))):
        turned = {(key[first], *key[:first], *key[first + 1 :]) for key in tuples}
        parts = [(*rest[:first], values, *rest[first:]) for values, *rest in _parts(turned, at_most)]
        found = parts if parts and (not found or len(parts) < len(found)) else found
    return found


def _parts(tuples: set[tuple[Any, ...]], at_most: int) -> list[_Part]:
    """Splits the tuples into parts that have no tuple in common; [] for too many."""
    if len(next(iter(tuples))) == 1:
        return [(tuple(sorted(key[0] for key in tuples)),)]
    rests: dict[Any, set[tuple[Any, ...]]] = {}
    for first, *rest in tuples:
        rests.setdefault(first, set()).add(tuple(rest))
    firsts: dict[frozenset[tuple[Any, ...]], list[Any]] = {}
    for value in sorted(rests):
        firsts.setdefault(frozenset(rests[value]), []).append(value)
    found: list[_Part] = []
    for others, values in firsts.items() if len(firsts) <= at_most else ():
        parts = _parts(set(others), at_most - len(found))
        if not parts:
            return []
        found += [(tuple(values), *part) for part in parts]
    return found


def _value_count(tuples: Collection[tuple[Any, ...]]) -> int:
    """Counts the distinct values of each column; each of them is in at least one part."""
    return sum(len(set(column)) for column in zip(*tuples, strict=True))


def _count(parts: Iterable[_Part]) -> int:
    return sum(len(column) for part in parts for column in part)


def _merged(ordered: Sequence[tuple[Any, ...]], at_most: int) -> list[_Part]:
    """Groups neighbours, and returns each group as the least and the greatest value of each column."""
    firsts = sorted({key[0] for key in ordered})
    size = -(-len(firsts) // max(at_most, 1))
    of_first = {value: position // size for position, value in enumerate(firsts)}
    groups: dict[int, list[tuple[Any, ...]]] = {}
    for key in ordered:
        groups.setdefault(of_first[key[0]], []).append(key)
    return [
        tuple((min(column), max(column)) for column in zip(*group, strict=True)) for group in groups.values()
    ]


def _any_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """Joins the conditions by OR in a balanced tree, because the engine descends it by recursion."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [exp.Or(this=pair[0], expression=pair[1]) if len(pair) > 1 else pair[0] for pair in pairs]
    return exp.paren(level[0], copy=False)


def _lists(probe: Probe, part: _Part) -> exp.Expr:
    lists = (
        list_predicate(column, type_name, [(value,) for value in values]).condition
        for column, type_name, values in zip(probe.columns, probe.type_names, part, strict=True)
    )
    return exp.paren(exp.and_(*lists, copy=False), copy=False)


def _ranges(probe: Probe, part: _Part) -> exp.Expr:
    ranges = (
        ranges_predicate(column, type_name, [(low, high)], 1).condition.unnest()
        for column, type_name, (low, high) in zip(probe.columns, probe.type_names, part, strict=True)
    )
    return exp.paren(exp.and_(*ranges, copy=False), copy=False)
