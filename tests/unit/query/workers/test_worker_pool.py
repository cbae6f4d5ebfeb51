"""Workers hang and come back, and other workers continue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Queue

import pytest

from service.errors.unavailable import ShuttingDown
from service.query.workers.worker_pool import WorkerPool
from tests.fakes.engine import PATIENCE_S


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """An event on which workers hang until it is set."""
    event = threading.Event()
    yield event
    event.set()


def _hang(pool: WorkerPool, gate: threading.Event, count: int) -> None:
    begun: Queue[None] = Queue()

    def hang() -> None:
        begun.put(None)
        gate.wait(PATIENCE_S)

    for _ in range(count):
        pool.submit(hang)
    for _ in range(count):
        begun.get(timeout=PATIENCE_S)


def _runs(pool: WorkerPool) -> None:
    done = threading.Event()
    pool.submit(done.set)
    assert done.wait(PATIENCE_S)


def test_another_worker_takes_the_place_of_one_that_is_given_up(gate: threading.Event) -> None:
    pool = WorkerPool(2, "test")
    _hang(pool, gate, 2)
    pool.give_up()
    _runs(pool)
    assert (pool.given_up, pool.is_exhausted) == (1, False)


def test_places_are_given_again_within_a_bound_only(gate: threading.Event) -> None:
    pool = WorkerPool(1, "test")
    for _ in range(2):
        _hang(pool, gate, 1)
        pool.give_up()
    assert pool.is_exhausted
    answered = threading.Event()
    pool.submit(answered.set)
    assert not answered.is_set()
    # Both workers return, and the queue continues.
    pool.take_back()
    pool.take_back()
    gate.set()
    assert answered.wait(PATIENCE_S)
    assert (pool.given_up, pool.is_exhausted) == (0, False)


def test_what_waits_is_run_after_the_close_and_nothing_more_is_taken(gate: threading.Event) -> None:
    pool = WorkerPool(1, "test")
    _hang(pool, gate, 1)
    waiting = threading.Event()
    pool.submit(waiting.set)
    pool.close()
    with pytest.raises(ShuttingDown):
        pool.submit(waiting.set)
    gate.set()
    assert waiting.wait(PATIENCE_S)
