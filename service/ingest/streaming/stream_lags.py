"""Tracks how long streams have been behind."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from uuid import UUID

from service.model.ingest.stream_standing import StreamLag, StreamProgress


@dataclass(slots=True)
class _Lag:
    since_ms: int
    messages: int | None = None


class StreamLags:
    """The lags of the streams that this gateway runs, or tries to run; any thread may call any method.

    A stream's lag counts from when it last finished a batch or had nothing to do. It grows while a batch
    takes long, fails again and again, or no engine is available. Only some sources report how much more they
    have. The object uses no clock: every moment is passed in.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lags: dict[UUID, _Lag] = {}

    def follow(self, stream_id: UUID, now_ms: int) -> None:
        """Begins to follow a stream, if it is not followed yet."""
        with self._lock:
            self._lags.setdefault(stream_id, _Lag(now_ms))

    def note_batch(self, stream_id: UUID, now_ms: int) -> None:
        """Notes that the stream has finished a batch."""
        with self._lock:
            self._lags.setdefault(stream_id, _Lag(now_ms)).since_ms = now_ms

    def note(self, stream_id: UUID, progress: StreamProgress, now_ms: int) -> None:
        """Notes the stream's progress."""
        with self._lock:
            lag = self._lags.setdefault(stream_id, _Lag(now_ms))
            if progress.has_nothing_to_do:
                lag.since_ms = now_ms
            if progress.messages_behind is not None:
                lag.messages = progress.messages_behind

    def forget(self, stream_id: UUID) -> None:
        """Forgets a stream that is stopped, or that another gateway runs."""
        with self._lock:
            self._lags.pop(stream_id, None)

    def of(self, stream_id: UUID, now_ms: int) -> StreamLag | None:
        """Returns the lag of one stream; None if it is not followed."""
        with self._lock:
            lag = self._lags.get(stream_id)
            return None if lag is None else StreamLag(now_ms - lag.since_ms, lag.messages)

    def longest_ms(self, now_ms: int) -> int:
        """Returns the longest lag of all streams."""
        with self._lock:
            return max((now_ms - lag.since_ms for lag in self._lags.values()), default=0)

    @property
    def messages(self) -> int:
        """The number of unread messages of all streams, as far as their sources report it."""
        with self._lock:
            return sum(lag.messages or 0 for lag in self._lags.values())

    def followed(self) -> set[UUID]:
        """Returns the streams that are followed."""
        with self._lock:
            return set(self._lags)
