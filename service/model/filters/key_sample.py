"""A few of a filter's keys as text, for people."""

from __future__ import annotations

from dataclasses import dataclass

ShownKey = tuple[str | None, ...]
"""One key: a text for each key column, None for a NULL."""


@dataclass(frozen=True, slots=True)
class KeySample:
    """The first keys or ranges of a filter, and the lowest and the highest value of each key column.

    Each text is bounded in length; one that ends with `…` may have been cut. `lowest` and `highest` are empty
    where no value is cached. `ranges` are inclusive at both ends, and exist only for a single key column.
    """

    lowest: ShownKey = ()
    highest: ShownKey = ()
    keys: tuple[ShownKey, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()


NO_SAMPLE = KeySample()
