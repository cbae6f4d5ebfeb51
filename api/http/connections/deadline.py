"""One thing at a time that a connection waits for, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """A timer that is set anew or ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether it will act."""
        return self._timer is not None

    def begin(self, seconds: float, act: Callable[[], None]) -> None:
        """Acts after this time, unless it is ended; what was set before does not."""
        self.end()

        def act_once() -> None:
            self._timer = None
            act()

        self._timer = self._loop.call_later(seconds, act_once)

    def end(self) -> None:
        """It does not act."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
