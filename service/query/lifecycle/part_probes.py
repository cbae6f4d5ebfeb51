"""Reports the health of the parts in time: a part that hangs blocks neither the others nor the caller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait

import structlog

from service.model.operations.health import PartHealth, PartState

log = structlog.get_logger(__name__)

Check = Callable[[], Sequence[PartHealth]]


class PartProbes:
    """Asks all parts at once; one check of each runs at a time, for all callers. Any thread may ask."""

    def __init__(self, checks: Mapping[str, Check], within_s: float) -> None:
        self._checks = checks
        self._within_s = within_s
        self._lock = threading.Lock()
        self._running: dict[str, Future[Sequence[PartHealth]]] = {}

    def ask(self) -> Sequence[PartHealth]:
        """Returns each part's own report; a part that is late counts as down, under the name of its check."""
        asked = {name: self._started(name) for name in self._checks}
        wait(asked.values(), timeout=self._within_s)
        return [part for name, answer in asked.items() for part in self._parts(name, answer)]

    def _parts(self, name: str, answer: Future[Sequence[PartHealth]]) -> Sequence[PartHealth]:
        if not answer.done():
            detail = f"It did not say within {self._within_s:g} s how it is."
            return [PartHealth(name, PartState.DOWN, detail)]
        return answer.result()

    def _started(self, name: str) -> Future[Sequence[PartHealth]]:
        with self._lock:
            running = self._running.get(name)
            if running is not None and not running.done():
                return running
            future: Future[Sequence[PartHealth]] = Future()
            self._running[name] = future
        # A daemon, since a check that hangs must not keep the process from ending.
        threading.Thread(target=self._run, args=(name, future), name=f"probe-{name}", daemon=True).start()
        return future

    def _run(self, name: str, future: Future[Sequence[PartHealth]]) -> None:
        try:
            future.set_result(self._checks[name]())
        except Exception as failure:  # the outermost edge of a check: its callers must get an answer
            log.exception("part_not_probed", part=name, error=type(failure).__name__)
            future.set_result([PartHealth(name, PartState.DOWN, "It could not be asked; the log says why.")])
