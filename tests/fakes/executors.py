"""Executors in this very process; what travels to them is pickled all the same."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import TypeVar

from service.errors import ExecutorsFailed

T = TypeVar("T")
R = TypeVar("R")


class FakeExecutors:
    """`fails_after` results a job fails, once; what was written until then is not heard of again."""

    slots = 2

    def __init__(self) -> None:
        self.jobs: list[int] = []
        self.fails_after: int | None = None

    def map(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:  # noqa: ARG002
        self.jobs.append(len(items))
        results: list[R] = []
        for each in items:
            if self.fails_after is not None and len(results) >= self.fails_after:
                self.fails_after = None
                raise ExecutorsFailed
            results.append(function(pickle.loads(pickle.dumps(each))))
        return [pickle.loads(pickle.dumps(each)) for each in results]
