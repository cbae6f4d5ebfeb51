"""Do two results have the same rows, in whatever order?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Sums of floating point numbers depend on the order of the rows, beyond these digits.
SIGNIFICANT_DIGITS = 9


def same_rows(left: pa.Table, right: pa.Table) -> bool:
    """Whether each row is there as often in one as in the other; floating point to nine digits."""
    return left.num_rows == right.num_rows and _counted(left) == _counted(right)


def _counted(rows: pa.Table) -> Counter[str]:
    columns = [column.to_pylist() for column in rows.columns]
    return Counter(repr([_comparable(value) for value in row]) for row in zip(*columns, strict=True))


def _comparable(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, list | tuple):
        return [_comparable(each) for each in value]
    if isinstance(value, dict):
        return {key: _comparable(each) for key, each in value.items()}
    return value
