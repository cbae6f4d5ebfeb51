"""Whether two engines gave the same rows, but for the last digit of averages and the order of equal rows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

# Trino rounds an average of DECIMAL(7, 2) to two digits, Spark to six.
TOLERANCE = 0.00501
RELATIVE = 1e-9
_DECIMAL = re.compile(r"-?\d+(\.\d+)?")

Cell = float | str | None


def are_alike(some: Sequence[Sequence[Any]], others: Sequence[Sequence[Any]]) -> bool:
    """Whether the rows are the same in some order. Decimals may be written as texts.

    >>> are_alike([["Ann", "1.254", None], ["Bob", 2, 0]], [["Bob", "2.00", 0.0], ["Ann", 1.25, None]])
    True
    >>> are_alike([["Ann", 1.25]], [["Ann", 1.27]]), are_alike([[None]], [[0]]), are_alike([[1], [1]], [[1]])
    (False, False, False)
    """
    return len(some) == len(others) and all(
        len(one) == len(other) and all(map(_is_alike, one, other))
        for one, other in zip(_ordered(some), _ordered(others), strict=True)
    )


def _ordered(rows: Sequence[Sequence[Any]]) -> list[list[Cell]]:
    """Returns the rows in the order of their texts, then of their numbers."""
    return sorted(
        ([_cell(value) for value in row] for row in rows),
        key=lambda row: (
            [cell if isinstance(cell, str) else "" for cell in row],
            [cell if isinstance(cell, float) else -math.inf for cell in row],
        ),
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return float(value) if _DECIMAL.fullmatch(value) else value
    return None if value is None else float(value)


def _is_alike(one: Cell, other: Cell) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=TOLERANCE)
    return one == other
