"""A set of keys without those that the probe cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service.model.column_values import ColumnValues
from service.model.filtering import Key, KeyValue


@dataclass(frozen=True, slots=True)
class NarrowedKeys:
    """`domain`: all values of the probe, when they are known. `is_all`: the set leaves none of them out."""

    values: tuple[Key, ...]
    domain: tuple[KeyValue, ...] | None = None
    is_all: bool = False


def narrow(keys: tuple[Key, ...], held: ColumnValues | None) -> NarrowedKeys:
    """The keys that a row of the probe may have.

    A dimension has the dates of two centuries, a fact those of five years: a long list costs more than it
    prunes.

    >>> narrow(((1,), (2,), (9,)), ColumnValues((2, 3), 2, 3, is_tight=True)).values
    ((2,),)
    """
    if held is None:
        return NarrowedKeys(keys)
    if held.values is not None:
        known = frozenset(held.values)
        kept = tuple(key for key in keys if key[0] in known)
        return NarrowedKeys(kept, held.values, is_all=len(kept) == len(known))
    lower: Any = held.lower
    upper: Any = held.upper
    if lower is None or upper is None:
        return NarrowedKeys(())
    return NarrowedKeys(tuple(key for key in keys if lower <= key[0] <= upper))
