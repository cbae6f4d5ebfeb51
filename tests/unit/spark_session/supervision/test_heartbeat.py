"""Heartbeats that succeed, fail or hang."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator

import pytest
from py4j.protocol import Py4JNetworkError

from spark_session.supervision.heartbeat import Heartbeat
from tests.fakes.engine import PATIENCE_S

Start = Callable[[Callable[[], int]], Heartbeat]


@pytest.fixture
def start() -> Iterator[Start]:
    begun: list[Heartbeat] = []

    def begin(beat: Callable[[], int]) -> Heartbeat:
        heartbeat = Heartbeat(beat, interval_s=0.01, window_s=0.05)
        begun.append(heartbeat)
        heartbeat.start()
        return heartbeat

    yield begin
    for heartbeat in begun:
        heartbeat.stop()


def until(condition: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(int(PATIENCE_S / 0.01)):
        if condition():
            return
        waiting.wait(0.01)
    raise AssertionError("not in time")


def test_a_beat_that_hangs_is_heard_by_its_silence(start: Start) -> None:
    gate, hangs = threading.Event(), threading.Event()

    def beat() -> int:
        hangs.set()
        gate.wait(PATIENCE_S)
        return 0

    heartbeat = start(beat)
    assert hangs.wait(PATIENCE_S)
    until(lambda: heartbeat.silent_s() > 0.05)
    gate.set()
    until(lambda: heartbeat.silent_s() < 0.05)


def test_a_beat_that_fails_says_why_until_the_next_one_is_answered(start: Start) -> None:
    failures = itertools.chain([Py4JNetworkError("gone")], itertools.repeat(None))
    goes_on = threading.Event()

    def beat() -> int:
        failure = next(failures)
        if failure is not None:
            raise failure
        goes_on.wait(PATIENCE_S)
        return 0

    heartbeat = start(beat)
    until(lambda: heartbeat.failure == "Py4JNetworkError")
    goes_on.set()
    until(lambda: heartbeat.failure is None)


def test_the_share_of_collections_is_known_once_the_window_is_over(start: Start) -> None:
    collected_ms = itertools.count(0, 10_000)
    heartbeat = start(lambda: next(collected_ms))
    assert heartbeat.collection_share() is None
    until(lambda: (heartbeat.collection_share() or 0) > 1)
