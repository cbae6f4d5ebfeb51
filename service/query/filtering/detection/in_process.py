"""Calls without a time limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from service.ports.bounded_calls import Answer, no_answer

R = TypeVar("R")


class InProcess:
    """Implements `BoundedCalls` without a bound, for what is known to be short."""

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:
        """Returns the function's result."""
        return function(answer, *arguments)
