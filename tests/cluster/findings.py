"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table; None: it is a number, which nobody promised."""

    what: str
    found: str
    is_right: bool | None = None
