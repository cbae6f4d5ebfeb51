from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from service.adapters.concurrency.bounded_calls import BoundedCalls

LONG_S = 60.0


def _one_lane(key: str) -> str:  # noqa: ARG001
    return "lane"


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def _failing() -> str:
    raise OSError


def test_calls_run_side_by_side() -> None:
    # Each call waits for the other one, so neither would end if they ran one by one.
    barrier = threading.Barrier(2, timeout=LONG_S)
    calls: dict[str, Callable[[], int]] = {"a": barrier.wait, "b": barrier.wait}
    assert sorted(BoundedCalls(2, ()).answers(calls, _one_lane, LONG_S).values()) == [0, 1]


def test_what_fails_or_hangs_is_left_out(release: threading.Event) -> None:
    calls: dict[str, Callable[[], str | bool]] = {
        "fails": _failing,
        "hangs": release.wait,
        "answers": lambda: "yes",
    }
    assert BoundedCalls(3, (OSError,)).answers(calls, _one_lane, 0.2) == {"answers": "yes"}


def test_hanging_calls_use_up_threads_and_no_more_are_started(release: threading.Event) -> None:
    calls = BoundedCalls(2, ())
    assert calls.answers({"a": release.wait, "b": release.wait}, _one_lane, 0.05) == {}
    assert calls.answers({"c": lambda: True}, _one_lane, 0.05) == {}
    release.set()
    assert calls.answers({"c": lambda: True}, _one_lane, LONG_S) == {"c": True}


def test_a_lane_that_hangs_keeps_no_other_from_running(release: threading.Event) -> None:
    calls = BoundedCalls(1, ())
    answers = calls.answers(
        {"a1": release.wait, "a2": lambda: True, "b1": lambda: True}, lambda key: key[0], 0.2
    )
    assert answers.get("b1") is True
