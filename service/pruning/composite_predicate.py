"""Keys of several columns as a predicate on all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from sqlglot import exp

from service.model.column_values import ColumnValues
from service.model.filtering import FilterForm, Key, KeyValue, Probe, Reason
from service.model.keys import converted
from service.pruning.predicate import FormedPredicate, list_predicate

# More would take longer to sort out than they are likely to save.
MAX_TUPLES = 100_000


def composite_predicate(
    probe: Probe,
    keys: Sequence[Key],
    held: Sequence[ColumnValues | None],
    max_in_list: int,
    max_disjuncts: int,
) -> FormedPredicate | Reason:
    """A condition that is true of the rows with one of the tuples, and of no others; or why there is none.

    `held` is what each column holds, as far as that is known. Where every combination of values is among the
    tuples, a filter on each column says the same; a set that would be long is left to those as well. Tuples
    have no ranges: only a list says which they are.

    >>> from service.model.tables import TableName
    >>> probe = Probe(TableName("c", "s", "t"), ("a", "b"), ("int", "int"), 1)
    >>> formed = composite_predicate(probe, [(1, 7), (2, 7), (3, 8), (3, 9)], [None, None], 200, 32)
    >>> formed.condition.sql("spark")
    '((`a` IN (1, 2) AND `b` IN (7)) OR (`a` IN (3) AND `b` IN (8, 9)))'
    """
    if len(keys) > MAX_TUPLES:
        return Reason.RANGES_ONLY
    tuples = [each for each in (_converted(probe, key) for key in keys) if each is not None]
    may_hold = [_may_hold(each) for each in held]
    kept = {each for each in tuples if all(may(value) for may, value in zip(may_hold, each, strict=True))}
    if not kept:
        return FormedPredicate(exp.false(), FilterForm.EMPTY)
    values = [{each[position] for each in kept} for position in range(len(probe.columns))]
    if prod(map(len, values)) == len(kept):
        return Reason.NOT_SELECTIVE
    parts = _parts(kept)
    if len(parts) > max_disjuncts or sum(len(column) for part in parts for column in part) > max_in_list:
        return Reason.RANGES_ONLY
    condition = exp.paren(exp.or_(*(_all_of(probe, part) for part in parts), copy=False))
    return FormedPredicate(condition, FilterForm.IN)


def _converted(probe: Probe, key: Key) -> tuple[Any, ...] | None:
    values = tuple(map(converted, probe.type_names, key))
    return None if None in values else values


def _may_hold(held: ColumnValues | None) -> Callable[[Any], bool]:
    if held is None or not held.is_pinned:
        return lambda _: True
    if held.values is not None:
        return frozenset(held.values).__contains__
    lower: Any = held.lower
    upper: Any = held.upper
    if lower is None or upper is None:
        return lambda _: False
    return lambda value: bool(lower <= value <= upper)


def _parts(tuples: set[tuple[Any, ...]]) -> list[tuple[tuple[KeyValue, ...], ...]]:
    """Lists of values of each column, of which every combination is a tuple; together all tuples."""
    if len(next(iter(tuples))) == 1:
        return [(tuple(sorted(each[0] for each in tuples)),)]
    rests: dict[Any, set[tuple[Any, ...]]] = {}
    for first, *rest in tuples:
        rests.setdefault(first, set()).add(tuple(rest))
    firsts: dict[frozenset[tuple[Any, ...]], list[Any]] = {}
    for value in sorted(rests):
        firsts.setdefault(frozenset(rests[value]), []).append(value)
    return [(tuple(values), *part) for rest, values in firsts.items() for part in _parts(set(rest))]


def _all_of(probe: Probe, part: Sequence[Sequence[KeyValue]]) -> exp.Expr:
    lists = (
        list_predicate(column, type_name, [(each,) for each in values]).condition
        for column, type_name, values in zip(probe.columns, probe.type_names, part, strict=True)
    )
    return exp.paren(exp.and_(*lists, copy=False))
