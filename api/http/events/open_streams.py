"""Bounds the open streams of events, of all callers and of each."""

from __future__ import annotations

from collections import Counter

from api.http.problems.http_errors import TooManyEventStreams


class OpenStreams:
    """Counts open streams. Its methods must be called on the event loop's thread.

    Args:
        max_streams: of all callers together.
        max_per_caller: of one caller.
    """

    def __init__(self, max_streams: int, max_per_caller: int) -> None:
        self._max_streams = max_streams
        self._max_per_caller = max_per_caller
        self._by_caller: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._by_caller.total()

    def open(self, caller: str) -> None:
        """Takes a place, which needs a `close`.

        Raises:
            TooManyEventStreams: there is none, or the caller has all of its own.
        """
        if self._by_caller[caller] >= self._max_per_caller:
            raise TooManyEventStreams(f"This caller has {self._max_per_caller} open streams of events.")
        if len(self) >= self._max_streams:
            raise TooManyEventStreams
        self._by_caller[caller] += 1

    def close(self, caller: str) -> None:
        """Gives a place back."""
        self._by_caller[caller] -= 1
        if not self._by_caller[caller]:
            del self._by_caller[caller]
