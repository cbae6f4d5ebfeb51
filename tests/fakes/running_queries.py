"""Running queries whose progress a test sets."""

from __future__ import annotations

from uuid import UUID

from service.model.query.progress import EngineProgress


class FakeRunningQueries:
    """Reports what `counters` has, and notes in `asked` who was asked for."""

    def __init__(self) -> None:
        self.counters: dict[UUID, EngineProgress] = {}
        self.asked: list[UUID] = []

    def progress(self, query_id: UUID) -> EngineProgress | None:
        self.asked.append(query_id)
        return self.counters.get(query_id)
