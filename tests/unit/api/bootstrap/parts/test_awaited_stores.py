"""The stores that a start waits for, with a clock that only the waiting itself advances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from api.bootstrap.parts.awaited_stores import AwaitedStore, await_stores
from service.errors.unavailable import ShuttingDown
from tests.fakes.clock import FakeClock


@dataclass
class Waiting:
    """Advances the clock at each pause of the start, and tells it to stop at `stops_at_ms`."""

    clock: FakeClock = field(default_factory=FakeClock)
    stops_at_ms: int | None = None

    def stopped_within(self, seconds: float) -> bool:
        self.clock.advance(timedelta(seconds=seconds))
        return self.stops_at_ms is not None and self.clock.elapsed_ms() >= self.stops_at_ms

    def wait(self, *stores: AwaitedStore, max_wait_s: float = 60) -> tuple[str, ...]:
        return await_stores(stores, max_wait_s, self.clock, self.stopped_within)


def comes_after(clock: FakeClock, milliseconds: int) -> Callable[[], str | None]:
    return lambda: None if clock.elapsed_ms() >= milliseconds else "It does not answer."


def never() -> str:
    return "It does not answer."


@pytest.fixture
def logged() -> Iterator[list[dict[str, object]]]:
    with capture_logs() as lines:
        yield lines  # type: ignore[misc]


def test_stores_that_are_there_cost_no_time_and_no_line(logged: list[dict[str, object]]) -> None:
    waiting = Waiting()
    assert waiting.wait(AwaitedStore("metricsStore", lambda: None)) == ()
    assert (waiting.clock.elapsed_ms(), logged) == (0, [])


def test_a_start_goes_on_once_the_last_store_is_there(logged: list[dict[str, object]]) -> None:
    waiting = Waiting()
    first = AwaitedStore("metricsStore", comes_after(waiting.clock, 3_000))
    last = AwaitedStore("filterCache", comes_after(waiting.clock, 11_000))
    assert waiting.wait(first, last) == ()
    assert waiting.clock.elapsed_ms() == 11_000
    said = [(entry["event"], entry["store"], entry["waited_s"]) for entry in logged]
    assert said == [
        ("waiting_for_store", "metricsStore", 0),
        ("waiting_for_store", "filterCache", 0),
        ("waiting_for_store", "filterCache", 5),
        ("waiting_for_store", "filterCache", 10),
    ]
    assert {entry["detail"] for entry in logged} == {"It does not answer."}


def test_a_store_that_was_there_is_not_asked_again() -> None:
    waiting, asked = Waiting(), []

    def is_there() -> None:
        asked.append(1)

    waiting.wait(
        AwaitedStore("metricsStore", is_there),
        AwaitedStore("filterCache", comes_after(waiting.clock, 9_000)),
    )
    assert asked == [1]


@pytest.mark.parametrize("max_wait_s", [0, 20])
def test_the_waiting_ends_with_a_warning(max_wait_s: int, logged: list[dict[str, object]]) -> None:
    waiting = Waiting()
    assert waiting.wait(AwaitedStore("filterCache", never), max_wait_s=max_wait_s) == ("filterCache",)
    assert waiting.clock.elapsed_ms() == max_wait_s * 1000
    assert (logged[-1]["event"], logged[-1]["log_level"]) == ("store_missing", "warning")


def test_a_stop_ends_the_waiting() -> None:
    waiting = Waiting(stops_at_ms=4_000)
    with pytest.raises(ShuttingDown):
        waiting.wait(AwaitedStore("metricsStore", never))
    assert waiting.clock.elapsed_ms() == 4_000
