"""How long streams wait that have failed for a reason that passes by itself."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service.ingest.streaming.stream_ports import StreamPace
from service.ports.clock import Clock


@dataclass(slots=True)
class _Pause:
    failures: int
    until_ms: float


class StreamPauses:
    """Each failure in a row doubles the pause, up to the longest one. Any thread may call any method."""

    def __init__(self, clock: Clock, pace: StreamPace) -> None:
        self._clock = clock
        self._pace = pace
        self._pauses: dict[UUID, _Pause] = {}

    def note_failure(self, stream_id: UUID) -> None:
        """Begins the stream's next pause."""
        before = self._pauses.get(stream_id)
        failures = 1 if before is None else before.failures + 1
        pause_ms = min(self._pace.first_pause_ms << min(failures - 1, 20), self._pace.longest_pause_ms)
        self._pauses[stream_id] = _Pause(failures, self._clock.elapsed_ms() + pause_ms)

    def forget(self, stream_id: UUID) -> None:
        """Forgets the stream's failures."""
        self._pauses.pop(stream_id, None)

    def has_failed(self, stream_id: UUID) -> bool:
        """Whether the stream has failed since it last went well."""
        return stream_id in self._pauses

    def is_due(self, stream_id: UUID) -> bool:
        """Whether the stream may begin again."""
        pause = self._pauses.get(stream_id)
        return pause is None or pause.until_ms <= self._clock.elapsed_ms()
