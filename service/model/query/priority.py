"""Which of its caller's queries goes first."""

from __future__ import annotations

from enum import StrEnum


class Priority(StrEnum):
    """The order among those queries of one caller that wait in one resource group.

    It moves no query of another caller.
    """

    HIGH = "HIGH"
    NORMAL = "NORMAL"
    LOW = "LOW"


FIRST_TO_LAST = tuple(Priority)
"""The priorities, those that go first in front."""
