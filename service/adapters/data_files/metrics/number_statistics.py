"""Statistics of a column of floating-point numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class NumberStatistics:
    """`numbers` holds the least and the greatest; it is empty until there is a value other than NaN."""

    nan_count: int = 0
    numbers: tuple[float, ...] = ()

    def with_values(self, values: pa.Array) -> NumberStatistics:
        """Returns the statistics with more values added.

        >>> NumberStatistics(1).with_values(pa.array([0.5, None, 2.5, float("nan")]))
        NumberStatistics(nan_count=2, numbers=(0.5, 2.5))
        """
        is_nan = pc.is_nan(values)
        nan_count = is_nan.true_count
        if nan_count:
            values = pc.filter(values, pc.invert(is_nan), null_selection_behavior="drop")
        ends = pc.min_max(values).as_py()
        known = [*self.numbers, *(end for end in ends.values() if end is not None)]
        return NumberStatistics(self.nan_count + nan_count, (min(known), max(known)) if known else ())

    @property
    def least(self) -> float | None:
        """A lower bound of the numbers: -0.0 for a zero, because some readers distinguish the zeros."""
        return (min(self.numbers) or -0.0) if self.numbers else None

    @property
    def greatest(self) -> float | None:
        """An upper bound of the values; None if there is NaN, which some engines sort above every number."""
        return (max(self.numbers) or 0.0) if self.numbers and not self.nan_count else None
