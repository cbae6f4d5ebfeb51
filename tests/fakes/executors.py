"""Executors in this process. Everything sent to them is pickled, as for real ones."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from service.errors.unavailable import ExecutorsFailed

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")


class FakeExecutors:
    """A job fails once, after `fails_after` results; what it wrote until then is not returned.

    Calls `meanwhile` at the end of each `map` job.
    """

    slots = 2

    def __init__(self) -> None:
        self.jobs: list[int] = []
        self.fails_after: int | None = None
        self.meanwhile: Callable[[], object] = lambda: None

    def map(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:  # noqa: ARG002
        self.jobs.append(len(items))
        results = [copied(result) for result in self._results(function, items)]
        self.meanwhile()
        return results

    def regroup(
        self,
        apart: Callable[[T], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        items: Sequence[T],
        part_count: int,
        tag: str,  # noqa: ARG002
    ) -> list[R]:
        if not items:
            return []
        self.jobs += [len(items), part_count]
        parts: list[list[V]] = [[] for _ in range(part_count)]
        for item in items:
            for part, value in apart(copied(item)):
                parts[part].append(copied(value))
        return [copied(result) for result in self._results(lambda values: together(iter(values)), parts)]

    def _results(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        for done, item in enumerate(items):
            if self.fails_after is not None and done >= self.fails_after:
                self.fails_after = None
                raise ExecutorsFailed
            yield function(copied(item))


def copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
