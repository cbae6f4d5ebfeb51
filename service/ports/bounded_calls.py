"""Calls of pure functions that a deadline ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

R = TypeVar("R")


Answer = Callable[..., object]
"""Answers a question that a function asks while it runs: its name and its arguments."""


def no_answer(name: str, *_: object) -> object:
    """For functions that ask nothing."""
    raise LookupError(name)


class CallGivenUp(Exception):
    """A call did not finish: it took too long or too much memory, failed, or got no turn."""

    def __init__(self, reason: str, *, is_busy: bool = False) -> None:
        super().__init__(reason)
        self.is_busy = is_busy
        """Whether other calls held the place, so that a second try may get a turn."""


class BoundedCalls(Protocol):
    """Runs functions whose time depends on a caller's input, and ends them when they take too long."""

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:
        """Returns the function's result. The function gets a way to `answer`, and then the arguments.

        The function is one of a module; arguments, questions, answers and results can be pickled.

        Raises:
            CallGivenUp: it was not done in time.
        """
