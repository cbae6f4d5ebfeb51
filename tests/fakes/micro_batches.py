"""In-memory streams, whose batches a test delivers, as often as it wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar
from uuid import UUID, uuid4

from service.errors.gateway_error import GatewayError
from service.model.ingest.micro_batches import Message
from service.model.ingest.stream_standing import StreamProgress
from service.model.ingest.streams import StreamSource
from service.ports.engine.stream_queries import OnBatch

R = TypeVar("R")
V = TypeVar("V")
FIRST_OFFSET = 40


class FakeMicroBatch:
    """Its records come in two parts; a third part is empty."""

    def __init__(self, checkpoint_id: UUID, batch_id: int, *lines: bytes, files: Sequence[str] = ()) -> None:
        self.checkpoint_id = checkpoint_id
        self.batch_id = batch_id
        self._lines = lines
        self._files = files
        self.run_count = 0

    def position(self) -> str:
        return f"{self._lines} {self._files}"

    def files(self) -> Sequence[str]:
        return self._files

    def map(self, function: Callable[[Iterator[Message]], R]) -> list[R]:
        self.run_count += 1
        return [function(iter(part)) for part in self._parts()]

    def regroup(
        self,
        apart: Callable[[Iterator[Message]], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        part_count: int,
    ) -> list[R]:
        self.run_count += 1
        parts: list[list[V]] = [[] for _ in range(part_count)]
        for messages in self._parts():
            for part, value in apart(iter(messages)):
                parts[part].append(value)
        return [together(iter(part)) for part in parts]

    def _parts(self) -> Sequence[Sequence[Message]]:
        messages = [(line, 0, offset) for offset, line in enumerate(self._lines, FIRST_OFFSET)]
        half = len(messages) // 2
        return messages[:half], messages[half:], messages[:0]


class FakeRunningStream:
    def __init__(self, on_batch: OnBatch) -> None:
        self.on_batch = on_batch
        self.is_stopped = False
        self.is_read = True
        self.is_doing = StreamProgress()
        self.failed: GatewayError | None = None
        self.when_asked: Callable[[], object] = lambda: None

    def is_active(self) -> bool:
        self.when_asked()
        return not self.is_stopped and self.failed is None

    def has_read(self) -> bool:
        return self.is_read

    def progress(self) -> StreamProgress:
        return self.is_doing

    def failure(self) -> GatewayError | None:
        return self.failed

    def stop(self) -> None:
        self.is_stopped = True


class FakeStreamQueries:
    """The next start raises `refuses`; `are_read` says whether the sources of later streams answer."""

    def __init__(self) -> None:
        self.started: list[UUID] = []
        self.running: dict[UUID, FakeRunningStream] = {}
        self.refuses: GatewayError | None = None
        self.are_read = True
        self.checkpoint_id = uuid4()

    def check(self, source: StreamSource) -> None:
        """Accepts every source."""

    def start(
        self,
        stream_id: UUID,
        source: StreamSource,  # noqa: ARG002
        interval_ms: int,  # noqa: ARG002
        on_batch: OnBatch,
    ) -> FakeRunningStream:
        self.started.append(stream_id)
        if self.refuses is not None:
            refused, self.refuses = self.refuses, None
            raise refused
        started = self.running[stream_id] = FakeRunningStream(on_batch)
        started.is_read = self.are_read
        return started
