"""Which parts are up, with the names that `/readyz` uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import gauges
from service.model.operations.health import PartHealth, PartState


class PartCollector(Collector):
    """`parts` were checked some seconds ago; None: they were not checked yet."""

    def __init__(self, parts: Callable[[], Sequence[PartHealth] | None]) -> None:
        self._parts = parts

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        yield gauges(
            "sluice_part_up",
            "1 while a part can be used, as of the last seconds.",
            "part",
            {part.name: part.state is PartState.UP for part in self._parts() or ()},
        )
