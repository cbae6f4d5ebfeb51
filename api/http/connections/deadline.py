"""A timer for the one thing that a connection waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """A timer that can be set again, or ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether the timer is running."""
        return self._timer is not None

    def begin(self, seconds: float, act: Callable[[], None]) -> None:
        """Calls `act` after this time, unless the timer is ended or set again before."""
        self.end()

        def act_once() -> None:
            self._timer = None
            act()

        self._timer = self._loop.call_later(seconds, act_once)

    def end(self) -> None:
        """Ends the timer without a call."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
