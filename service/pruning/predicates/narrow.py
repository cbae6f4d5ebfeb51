"""A set of keys without those that the probe cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service.model.filters.column_values import ColumnValues
from service.model.filters.filtering import Key, KeyValue


@dataclass(frozen=True, slots=True)
class NarrowedKeys:
    """`domain`: all values of the probe, when they are known. `is_all`: the set leaves none of them out.

    `listed`: those that it had when it was listed; by now it may have others, so no key is left out for them.
    """

    values: tuple[Key, ...]
    domain: tuple[KeyValue, ...] | None = None
    is_all: bool = False
    listed: tuple[KeyValue, ...] | None = None


def narrow(keys: tuple[Key, ...], held: ColumnValues | None) -> NarrowedKeys:
    """The keys that a row of the probe may have.

    A dimension has the dates of two centuries, a fact those of five years: a long list costs more than it
    prunes.

    >>> narrow(((1,), (2,), (9,)), ColumnValues((2, 3), 2, 3, is_tight=True)).values
    ((2,),)
    """
    if held is None or (held.values is None and not held.is_pinned):
        return NarrowedKeys(keys)
    if held.values is not None:
        known = frozenset(held.values)
        kept = tuple(key for key in keys if key[0] in known)
        is_all = len(kept) == len(known) and not held.has_null
        if not held.is_pinned:
            return NarrowedKeys(keys, is_all=is_all, listed=held.values)
        return NarrowedKeys(kept, held.values, is_all=is_all)
    lower: Any = held.lower
    upper: Any = held.upper
    if lower is None or upper is None:
        return NarrowedKeys(())
    return NarrowedKeys(tuple(key for key in keys if lower <= key[0] <= upper))
