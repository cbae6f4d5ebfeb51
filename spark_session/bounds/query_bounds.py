"""The limits on what one statement may ask of the engine."""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB, GIB = 1024, 1024**2, 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryBounds:
    """The bounds of one statement. Each is a maximum, unless its name says otherwise.

    `value_bytes`: the bytes that functions like `repeat` and `sequence` make of their arguments, for all
    values of a text together. `row_copies`: rows that one row becomes in a CUBE, a sliding window or `stack`,
    and levels of a recursion. `partitions`: those of a hint or of `range`. `tasks`: those of a whole plan.
    `view_depth`: views within views, where policies decide.
    `batch_rows` and `min_split_bytes`: the bounds of the read options `batch-size` and `split-size`.
    """

    value_bytes: int = 32 * MIB
    row_copies: int = 4096
    partitions: int = 10_000
    tasks: int = 100_000
    view_depth: int = 20
    batch_rows: int = 16_384
    min_split_bytes: int = MIB
