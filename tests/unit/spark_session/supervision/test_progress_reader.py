"""Progress is read in a thread of its own, and nobody waits for a JVM that does not answer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

from py4j.protocol import Py4JNetworkError

from service.model.query.progress import EngineProgress
from spark_session.supervision.progress_reader import ProgressReader
from tests.fakes.engine import PATIENCE_S

COUNTERS = {"stages": [0, 1, 1], "tasks": [0, 2, 8], "scans": [], "isWhole": True}


class Jvm:
    """Answers for `running` queries, unless it hangs or is gone."""

    def __init__(self) -> None:
        self.running: set[UUID] = set()
        self.forgotten: list[str] = []
        self.calls = 0
        self.answers = threading.Event()
        self.answers.set()
        self.is_gone = False

    def progress(self, tags: str) -> str:
        self.calls += 1
        self.answers.wait(PATIENCE_S)
        if self.is_gone:
            raise Py4JNetworkError("gone")
        return json.dumps({tag: COUNTERS for tag in tags.split(",") if UUID(tag) in self.running})

    def forget(self, tags: str) -> None:
        if self.is_gone:
            raise Py4JNetworkError("gone")
        self.forgotten.extend(tags.split(","))


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@contextmanager
def reader_of(jvm: Jvm, clock: Clock) -> Iterator[ProgressReader]:
    reader = ProgressReader(jvm.progress, jvm.forget, clock)
    reader.start()
    yield reader
    jvm.answers.set()
    reader.stop()


def patient(reader: ProgressReader, query_id: UUID) -> EngineProgress | None:
    """Asks until there is an answer: on a busy machine, the first wait may be too short."""
    until_s = time.monotonic() + PATIENCE_S
    while (found := reader.latest(query_id)) is None and time.monotonic() < until_s:
        pass
    return found


def test_the_counters_of_a_running_query_are_read_and_fresh_ones_are_shared() -> None:
    jvm, clock, query_id = Jvm(), Clock(), uuid4()
    jvm.running.add(query_id)
    with reader_of(jvm, clock) as reader:
        found = patient(reader, query_id)
        assert found is not None
        assert (found.tasks_running, found.tasks_total) == (2, 8)
        calls = jvm.calls
        assert [reader.latest(query_id) for _ in range(50)] == [found] * 50
        assert jvm.calls == calls
        clock.now_s += 1
        reader.latest(query_id)
        assert jvm.calls > calls
        assert reader.latest(uuid4()) is None


def test_nobody_waits_for_a_jvm_that_hangs_and_the_last_counters_stay() -> None:
    jvm, clock, query_id = Jvm(), Clock(), uuid4()
    jvm.running.add(query_id)
    with reader_of(jvm, clock) as reader:
        known = patient(reader, query_id)
        jvm.answers.clear()
        clock.now_s += 1
        assert reader.latest(query_id) == known
        clock.now_s += 1
        began_s = time.monotonic()
        assert [reader.latest(query_id) for _ in range(1000)] == [known] * 1000
        assert time.monotonic() - began_s < PATIENCE_S
        assert reader.latest(uuid4()) is None


def test_a_jvm_that_is_gone_is_no_error() -> None:
    jvm, clock, query_id = Jvm(), Clock(), uuid4()
    jvm.running.add(query_id)
    with reader_of(jvm, clock) as reader:
        assert patient(reader, query_id) is not None
        jvm.is_gone = True
        clock.now_s += 1
        until_s = time.monotonic() + PATIENCE_S
        while reader.latest(query_id) is not None and time.monotonic() < until_s:
            clock.now_s += 1
        assert reader.latest(query_id) is None
        reader.note_end(query_id)
        reader.forget_ended()


def test_ended_queries_are_forgotten_together_and_those_that_run_again_are_not() -> None:
    jvm, ended, again = Jvm(), [uuid4(), uuid4()], uuid4()
    with reader_of(jvm, Clock()) as reader:
        for query_id in (*ended, again):
            reader.note_begin(query_id)
            reader.note_end(query_id)
        reader.note_begin(again)
        reader.forget_ended()
        assert sorted(jvm.forgotten) == sorted(map(str, ended))
        reader.forget_ended()
        assert len(jvm.forgotten) == len(ended)


def test_a_stopped_reader_answers_at_once() -> None:
    jvm = Jvm()
    with reader_of(jvm, Clock()) as reader:
        reader.stop()
        assert reader.latest(uuid4()) is None
