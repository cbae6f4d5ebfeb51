"""Whatever a function does, its call ends, and the next call is served."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from service.adapters.processes.bounded_processes import BoundedProcesses
from service.ports.bounded_calls import CallGivenUp
from tests.fakes import long_calls

PATIENCE_S = 60.0
CALL = """
from service.adapters.processes.bounded_processes import BoundedProcesses
from tests.fakes import long_calls

processes = BoundedProcesses(1, 60, (long_calls.doubled, (1,)))
print([processes.call(long_calls.doubled, number) for number in range(3)])
processes.close()
"""


@contextmanager
def processes(count: int, within_s: float) -> Iterator[BoundedProcesses]:
    made = BoundedProcesses(count, within_s, (long_calls.doubled, (1,)))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def patient() -> Iterator[BoundedProcesses]:
    with processes(1, PATIENCE_S) as made:
        yield made


def test_a_call_gives_what_its_function_gives(patient: BoundedProcesses) -> None:
    assert [patient.call(long_calls.doubled, number) for number in range(3)] == [0, 2, 4]


def test_a_function_may_ask_while_it_runs(patient: BoundedProcesses) -> None:
    def answer(name: str, *rest: object) -> object:
        return (name, rest)

    assert patient.call(long_calls.asked, "a", "bc", answer=answer) == [("a", (1,)), ("bc", (2,))]


def test_deep_results_come_back(patient: BoundedProcesses) -> None:
    found, depth = patient.call(long_calls.deep, 3_000), 0
    while isinstance(found, tuple):
        [found] = found
        depth += 1
    assert depth == 3_000


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (long_calls.failing, "ValueError: said the function"),
        (long_calls.swallowing, "MemoryError"),
        (long_calls.ending, "its process ended"),
        (long_calls.bulky, "its process ended"),
    ],
)
def test_what_goes_wrong_is_reported_and_the_next_call_is_served(
    patient: BoundedProcesses, function: Callable[..., object], reason: str
) -> None:
    with pytest.raises(CallGivenUp, match=reason):
        patient.call(function)
    assert patient.call(long_calls.doubled, 4) == 8


def test_a_failing_answer_is_the_callers_and_the_next_call_is_served(patient: BoundedProcesses) -> None:
    def answer(name: str, *_: object) -> object:
        raise KeyError(name)

    with pytest.raises(KeyError):
        patient.call(long_calls.asked, "a", answer=answer)
    assert patient.call(long_calls.doubled, 4) == 8


def test_a_call_that_takes_too_long_is_ended_and_so_is_who_waits_behind_it() -> None:
    with processes(1, 1.0) as made, ThreadPoolExecutor(2) as threads:
        first = next(found for found in iter(lambda: _ready(made), None) if found)
        assert first
        given_up = [threads.submit(made.call, long_calls.endless) for _ in range(2)]
        for future in given_up:
            with pytest.raises(CallGivenUp, match=r"more than 1 s|no process was free"):
                future.result(PATIENCE_S)


def _ready(made: BoundedProcesses) -> bool:
    try:
        return made.call(long_calls.doubled, 1) == 2
    except CallGivenUp:
        return False


@pytest.mark.parametrize("limits", ["-t 30", "-v 1500000", "-t 30 -v 1500000", "-S -t 30", "-c 0"])
def test_calls_are_served_within_the_limits_of_the_operator(limits: str) -> None:
    command = ["bash", "-c", f'ulimit {limits}; exec "$@"', "bash", sys.executable, "-c", CALL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stdout == "[0, 2, 4]\n", done.stderr
