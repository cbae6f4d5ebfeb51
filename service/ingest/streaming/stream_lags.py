"""Since when streams are behind."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from uuid import UUID

from service.model.ingest.stream_standing import StreamProgress


@dataclass(slots=True)
class _Lag:
    since_ms: int
    messages: int = 0


class StreamLags:
    """Of the streams that one gateway runs, or tries to. Any thread may call any method.

    A stream falls behind from the moment on at which it last finished a batch or had nothing to do: while a
    batch takes long, fails again and again, or no engine is there. How much more its source has, only some
    sources tell. Knows no clock: every moment is handed in.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lags: dict[UUID, _Lag] = {}

    def follow(self, stream_id: UUID, now_ms: int) -> None:
        """Begins to follow a stream, if it was not followed before."""
        with self._lock:
            self._lags.setdefault(stream_id, _Lag(now_ms))

    def note_batch(self, stream_id: UUID, now_ms: int) -> None:
        """It has finished a batch."""
        with self._lock:
            self._lags.setdefault(stream_id, _Lag(now_ms)).since_ms = now_ms

    def note(self, stream_id: UUID, progress: StreamProgress, now_ms: int) -> None:
        """It was asked how it is doing."""
        with self._lock:
            lag = self._lags.setdefault(stream_id, _Lag(now_ms))
            if progress.has_nothing_to_do:
                lag.since_ms = now_ms
            if progress.messages_behind is not None:
                lag.messages = progress.messages_behind

    def forget(self, stream_id: UUID) -> None:
        """It is stopped, or another gateway's."""
        with self._lock:
            self._lags.pop(stream_id, None)

    def longest_ms(self, now_ms: int) -> int:
        """How long the one has been behind that has been so for longest."""
        with self._lock:
            return max((now_ms - each.since_ms for each in self._lags.values()), default=0)

    @property
    def messages(self) -> int:
        """What all of them have not read, as far as their sources tell."""
        with self._lock:
            return sum(each.messages for each in self._lags.values())

    def followed(self) -> set[UUID]:
        """Which streams are followed."""
        with self._lock:
            return set(self._lags)
