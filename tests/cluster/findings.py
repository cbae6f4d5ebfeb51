"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table; `is_right` is None for a number that has no target."""

    what: str
    found: str
    is_right: bool | None = None
