"""Notices when the wall clock was set back."""

from __future__ import annotations

from datetime import timedelta

from service.ports.clock import Clock

_SET_BACK = timedelta(seconds=5)
"""The tolerance for two clocks, which are not read at exactly the same moment."""


class SetBackClock:
    """Compares the wall clock with the time that has elapsed. One thread calls it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._clocks = (clock.now(), clock.elapsed_ms())

    def is_set_back(self) -> bool:
        """Returns whether the clock was set back since the last call."""
        (before, before_ms), clock = self._clocks, self._clock
        self._clocks = (clock.now(), clock.elapsed_ms())
        passed = timedelta(milliseconds=self._clocks[1] - before_ms)
        return self._clocks[0] - before < passed - _SET_BACK
