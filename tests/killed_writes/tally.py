"""Counts the statements that kills have interrupted, and says what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.killed_writes.changes import Change

APPLIED, NOT_APPLIED = "applied", "not applied"


@dataclass
class Tally:
    """Counts of the ends of interrupted statements, by kinds, tables and points of the kill."""

    kills: Counter[str] = field(default_factory=Counter)
    _ends: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    _by: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: {"table": Counter(), "kill": Counter()}
    )

    @property
    def interrupted(self) -> int:
        """How many statements did not come to their end undisturbed."""
        return self._ends.total()

    def kill(self, kill: str) -> None:
        """Counts a kill."""
        self.kills[kill] += 1

    def end(self, change: Change, kill: str, *, is_applied: bool, said: str) -> None:
        """Counts an interrupted statement. `said`: what the answer to its repeat says of it."""
        end = APPLIED if is_applied else NOT_APPLIED
        self._ends[change.kind, end, said] += 1
        self._by["table"][str(change.shape), end] += 1
        self._by["kill"][kill, end] += 1

    def __str__(self) -> str:
        """Returns the numbers as lines."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self._kinds().items()))
        return f"{self.kills.total()} kills, {self.interrupted} statements interrupted: {kinds}"

    def lines(self) -> Iterator[str]:
        """Yields all numbers."""
        yield str(self)
        for kill, count in sorted(self.kills.items()):
            yield f"{count:6d}  kills: {kill}"
        for (kind, end, said), count in sorted(self._ends.items()):
            yield f"{count:6d}  {kind}: {end}; its repeat: {said}"
        for by, ends in self._by.items():
            for (name, end), count in sorted(ends.items()):
                yield f"{count:6d}  {by} {name}: {end}"

    def _kinds(self) -> Counter[str]:
        found = Counter[str]()
        for (kind, _, _), count in self._ends.items():
            found[kind] += count
        return found
