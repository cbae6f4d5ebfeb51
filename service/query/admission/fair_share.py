"""Weighted fair turns among siblings: start-time fair queueing over the time that queries run.

Source: Goyal, Vin and Cheng, "Start-time Fair Queueing" (1996). Each sibling has a virtual time, which is the
time that its queries ran divided by its weight, and the one with the least goes next. A sibling that comes
back begins at the virtual time of the last turn, so that nobody saves up turns while it is idle.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class FairShare:
    """The virtual time of one sibling, in milliseconds per weight."""

    weight: int
    base: float = 0.0
    is_contending: bool = False

    def contend(self, turn_at: float) -> None:
        """Takes part in the next turns; `turn_at` is the virtual time of the last one."""
        if not self.is_contending:
            self.is_contending = True
            self.base = max(self.base, turn_at)

    def leave(self) -> None:
        """Takes no part, since nothing of it waits or may run."""
        self.is_contending = False

    def tag(self, running_ms: float) -> float:
        """Returns its virtual time if its queries that run now ended after this time together.

        >>> FairShare(weight=2, base=100.0).tag(running_ms=50)
        125.0
        """
        return self.base + running_ms / self.weight

    def charge(self, ran_ms: float) -> None:
        """Adds the time of a query that has ended; each counts, however fast it was."""
        self.base += max(1.0, ran_ms) / self.weight
