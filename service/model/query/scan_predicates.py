"""The conditions on one column by which a scan selected its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

PredicateValue: TypeAlias = int | float | str
"""A value as Iceberg writes it in JSON: days and microseconds since 1970 are numbers, decimals are text."""

ValueRange: TypeAlias = tuple[PredicateValue | None, PredicateValue | None]
"""Both bounds belong to the range; None: it has no bound there."""


@dataclass(frozen=True, slots=True)
class ScanPredicate:
    """The rows that a scan needs have values of the column in one of these ranges, which are in order.

    Ranges may be wider than what was asked for, since their number is bounded. None: the column was filtered
    in a way that ranges do not say, such as `IS NULL`.
    """

    column: str
    ranges: tuple[ValueRange, ...] | None
