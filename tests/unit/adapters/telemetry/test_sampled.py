"""Values that a background thread samples, and what readers get while sampling hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import TypeVar

import pytest

from service.adapters.telemetry.sampled import Sampled
from tests.polling import until

T = TypeVar("T")
WITHIN_S = 20


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def started(stack: ExitStack, take: Callable[[], T], every_s: float = 0.01) -> Sampled[T]:
    sampled = Sampled("test", take, every_s)
    stack.callback(sampled.close)
    sampled.start()
    return sampled


def test_the_latest_sample_is_reported(stack: ExitStack) -> None:
    numbers = count(1)
    sampled = started(stack, lambda: next(numbers))
    until(lambda: (sampled.latest or 0) > 3)


def test_before_the_first_one_there_is_none(stack: ExitStack) -> None:
    gate = threading.Event()
    stack.callback(gate.set)
    assert started(stack, lambda: gate.wait(WITHIN_S)).latest is None


def test_a_sample_that_is_too_old_is_not_reported(stack: ExitStack) -> None:
    gate, takes = threading.Event(), count()
    stack.callback(gate.set)

    def take() -> int:
        if next(takes):
            gate.wait(WITHIN_S)
        return 7

    sampled = started(stack, take, 0.1)
    until(lambda: sampled.latest == 7)
    until(lambda: sampled.latest is None)


def test_a_failure_is_no_end(stack: ExitStack) -> None:
    takes = count()

    def take() -> int:
        number = next(takes)
        if not number:
            raise OSError("not now")
        return number

    sampled = started(stack, take)
    until(lambda: sampled.latest is not None)
