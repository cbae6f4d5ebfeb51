"""Values of a column as integers in the same order, so that all types are compared alike and fast."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from service.model.query.scan_predicates import PredicateValue
from service.model.tables.table_layout import LayoutValue

Codes: TypeAlias = npt.NDArray[np.int64]
NO_CODE = -1
"""Stands for NULL. All values have codes from 0."""

_LAST_CHARACTER = "\U0010ffff"
_NUMBERS = frozenset({"int", "long", "date", "timestamp", "timestamptz"})


def comparable_value(value: PredicateValue, type_name: str) -> LayoutValue | None:
    """Returns a predicate's value as a value of a column of this type; None if it is not one.

    >>> comparable_value("12.30", "decimal(7, 2)"), comparable_value(7, "date"), comparable_value("a", "int")
    (Decimal('12.30'), 7, None)
    """
    if type_name in _NUMBERS:
        return value if isinstance(value, int) else None
    if type_name == "string":
        return value if isinstance(value, str) else None
    if type_name.startswith("decimal"):
        try:
            return Decimal(value)
        except (InvalidOperation, ValueError):
            return None
    return None


def bounds_of_text(
    values: Iterable[LayoutValue | None], length: int, *, is_upper: bool
) -> list[LayoutValue | None]:
    """Returns what a file's bounds say of each text: they have so many of its characters.

    >>> bounds_of_text(["ab", "abc", None], 2, is_upper=False)
    ['ab', 'ab', None]
    >>> bounds_of_text(["ab", "abc", None], 2, is_upper=True) == ["ab", "ab" + _LAST_CHARACTER, None]
    True
    """
    end = _LAST_CHARACTER if is_upper else ""
    return [
        value[:length] + end if isinstance(value, str) and len(value) > length else value for value in values
    ]


class ValueCodes:
    """The values of one column that are known: in files' bounds, in the sample, and in predicates."""

    def __init__(self, values: Iterable[LayoutValue | None]) -> None:
        known = [value for value in values if value is not None]
        self._values = np.unique(_array(known)) if known else np.empty(0, np.int64)

    @property
    def count(self) -> int:
        """The number of values, which is above every code."""
        return len(self._values)

    def of(self, values: Sequence[LayoutValue | None]) -> Codes:
        """Returns the codes of values that were given to the constructor, `NO_CODE` for None.

        >>> ValueCodes(["b", "a", "b"]).of(["a", None, "b"]).tolist()
        [0, -1, 1]
        """
        codes = np.full(len(values), NO_CODE, np.int64)
        places = [place for place, value in enumerate(values) if value is not None]
        if places:
            known: list[Any] = [values[place] for place in places]
            codes[places] = np.searchsorted(self._values, _array(known))
        return codes


def _array(values: Sequence[Any]) -> npt.NDArray[Any]:
    if all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    found = np.empty(len(values), object)
    found[:] = values
    return found
