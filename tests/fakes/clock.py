"""A clock that moves only when a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._elapsed = timedelta()

    def now(self) -> datetime:
        return self._now

    def elapsed_ms(self) -> int:
        return self._elapsed // timedelta(milliseconds=1)

    def jump(self, by: timedelta) -> None:
        """Moves the wall clock; no time elapses."""
        self._now += by

    def advance(self, by: timedelta) -> None:
        self._now += by
        self._elapsed += by
