"""Reports the health of the parts in time: a part that hangs blocks neither the others nor the caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from functools import partial

import structlog

from service.model.operations.health import PartHealth, PartState
from service.single_flight import Flight, SingleFlight

log = structlog.get_logger(__name__)

Check = Callable[[], Sequence[PartHealth]]


class PartProbes:
    """Asks all parts at once; one check of each runs at a time, for all callers. Any thread may ask."""

    def __init__(self, checks: Mapping[str, Check], within_s: float) -> None:
        self._checks = checks
        self._within_s = within_s
        self._running: SingleFlight[str, Sequence[PartHealth]] = SingleFlight()

    def ask(self) -> Sequence[PartHealth]:
        """Returns each part's own report; a part that is late counts as down, under the name of its check."""
        asked = {name: self._running.start(name, partial(self._checked, name)) for name in self._checks}
        wait(asked.values(), timeout=self._within_s)
        return [part for name, answer in asked.items() for part in self._parts(name, answer)]

    def _parts(self, name: str, answer: Flight[Sequence[PartHealth]]) -> Sequence[PartHealth]:
        if not answer.done():
            detail = f"It did not say within {self._within_s:g} s how it is."
            return [PartHealth(name, PartState.DOWN, detail)]
        return answer.result()

    def _checked(self, name: str) -> Sequence[PartHealth]:
        try:
            return self._checks[name]()
        except Exception as failure:  # the outermost edge of a check: its callers must get an answer
            log.exception("part_not_probed", part=name, error=type(failure).__name__)
            return [PartHealth(name, PartState.DOWN, "It could not be asked; the log says why.")]
