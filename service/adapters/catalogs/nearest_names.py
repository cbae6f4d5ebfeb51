"""Finds the known names most similar to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz

_AT_MOST = 3
# Below this, two names of usual length share little more than a few characters.
_LIKE_ENOUGH = 60.0


def nearest_names(dotted: str, full_names: Iterable[str]) -> tuple[str, ...]:
    """At most three full names, the most similar first; a partial name is compared with that part too.

    >>> nearest_names("store_return", ["lake.tpcds.store_returns", "lake.tpcds.date_dim"])
    ('lake.tpcds.store_returns',)
    """
    wanted = dotted.lower()
    scored = ((_likeness(wanted, name.lower()), name) for name in full_names)
    close = sorted((-score, name) for score, name in scored if score >= _LIKE_ENOUGH)
    return tuple(name for _, name in close[:_AT_MOST])


def _likeness(wanted: str, full_name: str) -> float:
    same_part = ".".join(full_name.split(".")[-(wanted.count(".") + 1) :])
    return max(fuzz.ratio(wanted, full_name), fuzz.ratio(wanted, same_part))
