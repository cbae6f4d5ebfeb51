"""What came of comparing a narrowed query with itself as it was written."""

from __future__ import annotations

from enum import StrEnum


class Verification(StrEnum):
    """Part of the HTTP contract.

    NOT_COMPARABLE: the rows differ, or were cut, but two right answers of this query may do so. NOT_NARROWED:
    the query ran as it was written, so that there was nothing to compare.
    """

    SAME = "SAME"
    DIFFERENT = "DIFFERENT"
    NOT_COMPARABLE = "NOT_COMPARABLE"
    NOT_NARROWED = "NOT_NARROWED"
