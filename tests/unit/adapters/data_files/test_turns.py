"""Few threads compute at once; threads that wait for a storage do not count."""

from __future__ import annotations

import threading
from collections.abc import Callable

from service.adapters.data_files.writer.turns import Turns, out_of_turn

LONG_S = 60.0


def _started(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def test_no_more_than_so_many_compute_at_once() -> None:
    turns, lock, counts = Turns(2), threading.Lock(), {"now": 0, "most": 0}

    def compute() -> None:
        for _ in range(50):
            with turns.turn():
                with lock:
                    counts["now"] += 1
                    counts["most"] = max(counts["most"], counts["now"])
                with lock:
                    counts["now"] -= 1

    for thread in [_started(compute) for _ in range(6)]:
        thread.join(LONG_S)
    assert (counts["now"], counts["most"] <= 2) == (0, True)


def test_who_waits_for_a_storage_lets_another_one_in_and_takes_its_turn_again() -> None:
    turns, other_was_in, answered = Turns(1), threading.Event(), threading.Event()
    seen: list[str] = []

    def wait_for_storage() -> None:
        with turns.turn():
            with out_of_turn():
                assert other_was_in.wait(LONG_S)
            seen.append("again")

    def compute() -> None:
        with turns.turn():
            other_was_in.set()
            seen.append("other")
            assert answered.wait(LONG_S)

    threads = [_started(wait_for_storage), _started(compute)]
    assert other_was_in.wait(LONG_S)
    answered.set()
    for thread in threads:
        thread.join(LONG_S)
    assert seen == ["other", "again"]


def test_a_turn_is_given_back_after_a_failure_and_without_one_nothing_waits() -> None:
    turns = Turns(1)
    try:
        with turns.turn(), out_of_turn():
            raise OSError
    except OSError:
        pass
    with out_of_turn(), turns.turn(), out_of_turn():
        pass
    entered = threading.Event()

    def compute() -> None:
        with turns.turn():
            entered.set()

    _started(compute).join(LONG_S)
    assert entered.is_set()
