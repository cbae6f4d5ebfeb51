"""Writes keys as a predicate on the probe's column, in the form that is cheapest to evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from sqlglot import exp

from service.model.filters.file_sizes import FileShare
from service.model.filters.key_set import FilterForm, Key, KeyRange, KeyValue
from service.model.filters.keys import converted

# With fewer values for each run than this, a list is as short as the ranges, and exact on every level.
VALUES_PER_RUN = 4
# A value of each type that keys may have, by the beginning of the type's name.
_SOME: Mapping[str, KeyValue] = {
    "int": 0,
    "long": 0,
    "decimal": Decimal(0),
    "string": "",
    "boolean": False,
    "date": date.min,
    "timestamptz": datetime.min.replace(tzinfo=UTC),
    "timestamp": datetime.min,
}


@dataclass(frozen=True, slots=True)
class FormedPredicate:
    """A predicate, its form, and the inclusive ranges that it stands for (none for a list).

    `is_exact`: among the probe's rows, it is true of those with a key and of no others. `share` is the share
    of the probe's files that it leaves; None when that is not known. `has_tuples`: keys of several columns
    could leave out more files than it does, if a scan compares the keys themselves.
    """

    condition: exp.Expr
    form: FilterForm
    ranges: tuple[KeyRange, ...] = ()
    share: FileShare | None = None
    is_exact: bool = False
    has_tuples: bool = False


def predicate(
    column: str,
    type_name: str,
    keys: Sequence[Key],
    max_in_list: int,
    max_ranges: int,
    domain: Sequence[KeyValue] | None = None,
    max_listed: int = 0,
) -> FormedPredicate:
    """Returns a condition that is true of every key's rows, and of as few others as its form allows.

    Iceberg uses no statistics for a list of more than 200 values, so long sets become ranges: runs of
    neighbours. If there are too many runs, up to `max_listed` values become several lists of `max_in_list`,
    and more values become ranges between the widest gaps. Neighbours are values between which the probe can
    hold no other; its `domain` says which, when all its values are known.

    >>> formed = predicate("k", "int", [(1,), (2,), (3,), (4,), (9,), (10,), (11,), (12,)], 200, 32)
    >>> formed.form.value, formed.condition.sql("spark")
    ('RANGES', '(`k` BETWEEN 1 AND 4 OR `k` BETWEEN 9 AND 12)')
    """
    values = sorted_values(type_name, keys)
    runs = _runs(values, domain)
    if len(values) <= max_in_list and len(runs) * VALUES_PER_RUN > len(values):
        return list_predicate(column, type_name, keys)
    if max_ranges < len(runs) and max_in_list and len(values) <= max_listed:
        return _lists_predicate(column, type_name, values, max_in_list)
    formed = ranges_predicate(column, type_name, runs, max_ranges)
    return replace(formed, is_exact=len(runs) <= max_ranges)


def list_predicate(column: str, type_name: str, keys: Sequence[Key]) -> FormedPredicate:
    """Returns the same as one list of any length; only lists prune buckets and use bloom filters."""
    values = sorted_values(type_name, keys)
    return _lists_predicate(column, type_name, values, len(values)) if values else _nothing()


def ranges_predicate(
    column: str, type_name: str, ranges: Sequence[KeyRange], max_ranges: int
) -> FormedPredicate:
    """Returns a condition that is true of all rows within the ranges, which are sorted and disjoint.

    >>> ranges_predicate("k", "int", [(1, 4), (6, 6), (90, 95)], 2).condition.sql("spark")
    '(`k` BETWEEN 1 AND 6 OR `k` BETWEEN 90 AND 95)'
    """
    if not ranges:
        return _nothing()
    name = exp.column(column, quoted=True)
    joined = _joined(ranges, max_ranges)
    parts = [_between(name, low, high, type_name) for low, high in joined]
    return FormedPredicate(exp.paren(exp.or_(*parts, copy=False)), FilterForm.RANGES, tuple(joined))


def or_null(formed: FormedPredicate, column: str) -> FormedPredicate:
    """Returns the same predicate, but true of NULL too.

    >>> or_null(list_predicate("k", "int", [(1,)]), "k").condition.sql("spark")
    '(`k` IN (1) OR `k` IS NULL)'
    """
    is_null = exp.Is(this=exp.column(column, quoted=True), expression=exp.null())
    if formed.form is FilterForm.EMPTY:
        return FormedPredicate(is_null, FilterForm.IN, is_exact=True)
    return replace(formed, condition=exp.paren(exp.or_(formed.condition, is_null, copy=False)))


def never_predicate(column: str, type_name: str, some: KeyValue | None = None) -> FormedPredicate:
    """Returns a condition for a table of which no row is needed; the engine does not fold it to `FALSE`.

    A scan that the engine removes, or that has no files, cannot prune other scans. So the files of one value
    stay, best of a value `some` that the column has. The join takes none of their rows, and the engine's own
    pruning leaves the files out.

    >>> never_predicate("k", "long").condition.sql("spark")
    '`k` IN (0, NULL)'
    """
    if some is None:
        some = next((value for kind, value in _SOME.items() if type_name.startswith(kind)), "")
    listed = exp.In(this=exp.column(column, quoted=True), expressions=[_literal(some, type_name), exp.null()])
    return FormedPredicate(listed, FilterForm.IN)


def _lists_predicate(column: str, type_name: str, values: Sequence[KeyValue], most: int) -> FormedPredicate:
    """Returns lists of neighbouring values, so that statistics can skip files for each list by itself."""
    name = exp.column(column, quoted=True)
    lists = [
        exp.In(this=name.copy(), expressions=[_literal(value, type_name) for value in values[at : at + most]])
        for at in range(0, len(values), most)
    ]
    condition = lists[0] if len(lists) == 1 else exp.paren(exp.or_(*lists, copy=False))
    return FormedPredicate(condition, FilterForm.IN, is_exact=True)


def _nothing() -> FormedPredicate:
    return FormedPredicate(exp.false(), FilterForm.EMPTY)


def sorted_values(type_name: str, keys: Sequence[Key]) -> list[KeyValue]:
    """Returns the keys of one column as values of the type, sorted and each once.

    >>> sorted_values("int", [(3,), (1,), (2**40,)])
    [1, 3]
    """
    found: set[Any] = {converted(type_name, key[0]) for key in keys}
    return sorted(found - {None})


def _between(name: exp.Column, low: KeyValue, high: KeyValue, type_name: str) -> exp.Expr:
    if low == high:
        return exp.EQ(this=name.copy(), expression=_literal(low, type_name))
    return exp.Between(this=name.copy(), low=_literal(low, type_name), high=_literal(high, type_name))


def _runs(values: Sequence[KeyValue], domain: Sequence[KeyValue] | None) -> list[KeyRange]:
    rank = {value: position for position, value in enumerate(domain or ())}
    runs: list[KeyRange] = []
    for value in values:
        before = runs[-1][1] if runs else None
        if before is None:
            is_next = False
        elif domain is None:
            is_next = _is_next(before, value)
        else:
            is_next = rank[value] == rank[before] + 1
        if is_next:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


def _joined(runs: Sequence[KeyRange], at_most: int) -> Sequence[KeyRange]:
    if len(runs) <= at_most:
        return runs
    gaps = sorted(range(1, len(runs)), key=lambda at: _distance(runs[at - 1][1], runs[at][0]), reverse=True)
    cuts = [0, *sorted(gaps[: at_most - 1]), len(runs)]
    return [(runs[first][0], runs[after - 1][1]) for first, after in pairwise(cuts)]


def _is_next(before: KeyValue, value: KeyValue) -> bool:
    if isinstance(before, bool | datetime):
        return False
    if isinstance(before, int) and isinstance(value, int):
        return value == before + 1
    if isinstance(before, date) and isinstance(value, date):
        return value == before + timedelta(days=1)
    return False


def _distance(before: KeyValue, after: KeyValue) -> float:
    if isinstance(before, int | Decimal) and isinstance(after, int | Decimal):
        return float(after - before)
    if isinstance(before, datetime) and isinstance(after, datetime):
        return (after - before).total_seconds()
    if isinstance(before, date) and isinstance(after, date):
        return (after - before).days
    return 0.0


def _literal(value: KeyValue, type_name: str) -> exp.Expr:
    """Returns a literal of exactly the column's type, whatever the value is."""
    match value:
        case bool():
            return exp.Boolean(this=value)
        case int():
            return exp.Literal.number(value)
        case str():
            return _string(value)
        case Decimal():
            return exp.cast(exp.Literal.string(f"{value:f}"), type_name, dialect="spark")
        case datetime():
            text = (value if value.tzinfo is None else value.astimezone(UTC)).isoformat(" ")
            kind = "timestamp_ntz" if value.tzinfo is None else "timestamp"
            return exp.cast(exp.Literal.string(text), kind, dialect="spark")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")


def _string(value: str) -> exp.Expr:
    if value.isascii() and all(character.isalnum() or character in " _-.,:/#@" for character in value):
        return exp.Literal.string(value)
    # Values come from data. In hexadecimal digits, no value can end the literal that it is in.
    return exp.cast(exp.HexString(this=value.encode().hex()), "string", dialect="spark")
