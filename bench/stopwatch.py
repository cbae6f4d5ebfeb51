"""Times named functions of the product while it works, to see which part of an answer takes how long."""

from __future__ import annotations

import functools
import importlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """A function by its place, `module:Class.function`; `depth`: inside which other part it lies."""

    label: str
    place: str
    depth: int = 0


class Stopwatch:
    """Sums up, per part, what it took since the last `lap`; `gone`: parts that the product no longer has."""

    def __init__(self) -> None:
        self._running: dict[str, float] = defaultdict(float)
        self.laps: dict[str, list[float]] = defaultdict(list)
        self.gone: list[str] = []

    def lap(self) -> None:
        """Closes one sample: what each part took in it, in milliseconds."""
        running, self._running = self._running, defaultdict(float)
        for label, took_ms in running.items():
            self.laps[label].append(took_ms)

    @contextmanager
    def on(self, parts: Sequence[Part]) -> Iterator[None]:
        """Times the parts while the context is open."""
        replaced: list[tuple[Any, str, Any]] = []
        try:
            for part in parts:
                try:
                    owner, name = _find(part.place)
                    original = getattr(owner, name)
                except (ImportError, AttributeError):
                    self.gone.append(part.label)
                    continue
                replaced.append((owner, name, original))
                setattr(owner, name, self._timed(part.label, original))
            yield
        finally:
            for owner, name, original in reversed(replaced):
                setattr(owner, name, original)

    def _timed(self, label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self._running[label] += (time.perf_counter() - started) * 1000

        return timed


def _find(place: str) -> tuple[Any, str]:
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    return owner, name
