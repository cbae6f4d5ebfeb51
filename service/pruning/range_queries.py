"""The queries that tell between which values a set of keys lies, for sets that are too large to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from service.model.filtering import Key, KeyRange

# How far one key is from the next, and what is no gap: between neighbours there is nothing to leave out.
_NUMBER_GAP = "CAST(`high` AS DOUBLE) - CAST(`low` AS DOUBLE)"
_GAPS = {
    "int": (_NUMBER_GAP, 1),
    "long": (_NUMBER_GAP, 1),
    "decimal": (_NUMBER_GAP, 0),
    "date": ("unix_date(`high`) - unix_date(`low`)", 1),
}


def bounds_query(filtering_query: str) -> str:
    """Yields the least and the greatest key of a single key column.

    >>> bounds_query("SELECT DISTINCT k AS k0 FROM d")
    'SELECT min(`k0`) AS `low`, max(`k0`) AS `high` FROM (SELECT DISTINCT k AS k0 FROM d) AS `keys`'
    """
    return f"SELECT min(`k0`) AS `low`, max(`k0`) AS `high` FROM ({filtering_query}) AS `keys`"


def gaps_query(filtering_query: str, type_name: str, at_most: int) -> str | None:
    """Yields the widest gaps between keys, each as the keys before and after it.

    None for types in which nobody can say how wide a gap is.
    """
    gap, none = _GAPS.get(type_name.partition("(")[0], ("", 0))
    if not gap or at_most < 1:
        return None
    following = "lead(`k0`) OVER (ORDER BY `k0`)"
    steps = f"SELECT `k0` AS `low`, {following} AS `high` FROM ({filtering_query}) AS `keys`"
    widest = f"WHERE {gap} > {none} ORDER BY {gap} DESC LIMIT {at_most}"
    return f"SELECT `low`, `high` FROM ({steps}) AS `steps` {widest}"


def ranges_between(bounds: Key, gaps: Sequence[Key]) -> tuple[KeyRange, ...]:
    """The ranges that the gaps leave.

    >>> ranges_between((1, 90), [(50, 80), (9, 40)])
    ((1, 9), (40, 50), (80, 90))
    """
    low, high = bounds
    ends = [low, *chain.from_iterable(sorted(gaps)), high]
    return tuple(zip(ends[::2], ends[1::2], strict=True))
