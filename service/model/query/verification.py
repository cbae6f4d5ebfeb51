"""The outcome of running a pruned query again as it was written, and comparing the results."""

from __future__ import annotations

from enum import StrEnum


class Verification(StrEnum):
    """The outcomes, which are part of the HTTP contract.

    `NOT_COMPARABLE`: the rows differ, or were truncated, but two correct answers of this query may differ so.
    `NOT_PRUNED`: the query ran as it was written, so there was nothing to compare.
    """

    SAME = "SAME"
    DIFFERENT = "DIFFERENT"
    NOT_COMPARABLE = "NOT_COMPARABLE"
    NOT_PRUNED = "NOT_PRUNED"
