"""Calls that nobody ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from service.ports import Answer, no_answer

R = TypeVar("R")


class InProcess:
    """Implements `service.ports.BoundedCalls` without a bound, for what is known to be short."""

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:
        """What the function gives."""
        return function(answer, *arguments)
