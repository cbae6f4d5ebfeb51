"""How many values a table has, by a sample of its rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def distinct_count(sampled: npt.NDArray[np.int64], row_count: int) -> float:
    """Estimates how many values `row_count` rows have, by the values of the rows that were sampled.

    Source: the guaranteed-error estimator, Charikar et al., 2000.

    >>> distinct_count(np.array([1, 1, 2]), row_count=3), distinct_count(np.array([1, 1, 2]), row_count=12)
    (2.0, 3.0)
    """
    if not len(sampled):
        return 0.0
    _, counts = np.unique(sampled, return_counts=True)
    once = int((counts == 1).sum())
    return math.sqrt(max(1.0, row_count / len(sampled))) * once + len(counts) - once
