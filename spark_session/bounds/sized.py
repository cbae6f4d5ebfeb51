"""How large a value can be, as far as a text says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sized:
    """Upper bounds of one value. None is what only the running query knows.

    `byte_count` and `elements` are of texts, binaries, arrays and maps; `low` and `high` bound a number;
    `micros` is a moment or the length of an interval; `text` is there of a short literal alone.
    """

    byte_count: float | None = None
    elements: float | None = None
    low: float | None = None
    high: float | None = None
    micros: float | None = None
    text: str | None = None

    @property
    def held(self) -> float:
        """The bytes that are known of; what a column holds was there before."""
        return self.byte_count or 0.0


UNKNOWN = Sized()


def number(low: float | None, high: float | None = None) -> Sized:
    """A number between two bounds; one bound alone is the number itself."""
    return Sized(low=low, high=low if high is None else high)
