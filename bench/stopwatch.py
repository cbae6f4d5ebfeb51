"""Times named functions of the product while it works, to see how long each part of an answer takes."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """A function by its place, `module:Class.function`; `depth`: how many other parts enclose it."""

    label: str
    place: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """When a part first began and last ended, in seconds, and the milliseconds of all its calls."""

    began: float
    ended: float
    took_ms: float


class Stopwatch:
    """One dictionary of spans per lap; `gone`: parts that the product no longer has."""

    def __init__(self) -> None:
        self._running: dict[str, Span] = {}
        self.laps: list[dict[str, Span]] = []
        self.gone: list[str] = []

    def lap(self, label: str, began: float, ended: float) -> None:
        """Closes one sample, and records its whole time under this label."""
        running, self._running = self._running, {}
        self.laps.append(running | {label: Span(began, ended, (ended - began) * 1000)})

    def of(self, label: str) -> list[float]:
        """Returns the milliseconds of a part in the laps that contain it."""
        return [lap[label].took_ms for lap in self.laps if label in lap]

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
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                ended = time.perf_counter()
                before = self._running.get(label, Span(began, ended, 0.0))
                took_ms = before.took_ms + (ended - began) * 1000
                self._running[label] = Span(before.began, ended, took_ms)

        return timed


def _find(place: str) -> tuple[Any, str]:
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for attribute in owners:
        owner = getattr(owner, attribute)
    return owner, name
