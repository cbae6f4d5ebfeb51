"""Upper bounds on the size of a value, as far as a text shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sized:
    """Upper bounds of one value. None is known only to the running query.

    `byte_count` and `elements` are of texts, binaries, arrays and maps; `low` and `high` bound a number;
    `micros` is a timestamp or the length of an interval; `text` is set only for a short literal.
    """

    byte_count: float | None = None
    elements: float | None = None
    low: float | None = None
    high: float | None = None
    micros: float | None = None
    text: str | None = None

    @property
    def known_bytes(self) -> float:
        """The known bytes; those in a column existed before."""
        return self.byte_count or 0.0


UNKNOWN = Sized()


def number(low: float | None, high: float | None = None) -> Sized:
    """Returns a number between two bounds; a single bound is the number itself."""
    return Sized(low=low, high=low if high is None else high)
