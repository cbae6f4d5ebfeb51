"""The contract of `RunningQueries`, for every implementation."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol
from uuid import UUID, uuid4

import pytest

from service.errors.gateway_error import GatewayError
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.progress import EngineProgress
from service.ports.engine.query_engine import Statement
from service.ports.engine.running_queries import RunningQueries
from spark_session.engine.engine import SparkEngine
from tests.fakes.running_queries import FakeRunningQueries
from tests.integration.running import ENDLESS
from tests.polling import until


class Harness(Protocol):
    """An engine that runs queries until they are ended."""

    @property
    def queries(self) -> RunningQueries: ...

    def begin(self) -> UUID: ...

    def end(self, query_id: UUID) -> None: ...


class Fake:
    def __init__(self) -> None:
        self.queries = FakeRunningQueries()

    def begin(self) -> UUID:
        query_id = uuid4()
        self.queries.counters[query_id] = EngineProgress(
            stages_total=1, stages_planned=1, tasks_running=1, tasks_total=1, is_whole=True
        )
        return query_id

    def end(self, query_id: UUID) -> None:
        del self.queries.counters[query_id]


class Spark:
    def __init__(self, engine: SparkEngine) -> None:
        self.queries = engine
        self._threads: dict[UUID, threading.Thread] = {}
        self._ended: set[UUID] = set()

    def begin(self) -> UUID:
        query_id = uuid4()
        self._threads[query_id] = thread = threading.Thread(target=self._run, args=[query_id])
        thread.start()
        return query_id

    def end(self, query_id: UUID) -> None:
        self._ended.add(query_id)

        def has_ended() -> bool:
            # The engine stops only what runs at the moment of the call.
            self.queries.cancel(query_id)
            return not self._threads[query_id].is_alive()

        until(has_ended, 60)

    def _run(self, query_id: UUID) -> None:
        with suppress(GatewayError):
            self.queries.run(
                Statement(
                    query_id,
                    ENDLESS,
                    (),
                    None,
                    None,
                    10,
                    1000,
                    is_canceled=lambda: query_id in self._ended,
                    access=FULL_ACCESS,
                )
            )


@pytest.fixture(params=["fake", pytest.param("spark", marks=pytest.mark.integration)])
def harness(request: pytest.FixtureRequest) -> Iterator[Harness]:
    if request.param == "fake":
        yield Fake()
    else:
        yield Spark(request.getfixturevalue("engine"))


def test_of_an_unknown_query_nothing_is_known(harness: Harness) -> None:
    assert harness.queries.progress(uuid4()) is None


def test_a_running_query_has_tasks_and_is_forgotten_after_its_end(harness: Harness) -> None:
    query_id = harness.begin()

    def progress() -> EngineProgress | None:
        found = harness.queries.progress(query_id)
        return found if found is not None and found.tasks_running else None

    found = until(progress, 60)
    assert found is not None
    assert (found.tasks_completed, found.tasks_running, found.tasks_total) == (0, 1, 1)
    assert (found.stages_completed, found.stages_total) == (0, 1)
    assert found.stages_planned >= 1
    assert (found.scans, found.is_whole) == ((), True)
    assert harness.queries.progress(uuid4()) is None
    harness.end(query_id)
    until(lambda: harness.queries.progress(query_id) is None, 30)
