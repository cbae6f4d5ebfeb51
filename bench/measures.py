"""All measures, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from matplotlib.figure import Figure

from bench import clients, demo_query, long_poll, memory, select_one
from bench.lakehouse import Lake
from bench.measurement import RESULTS, Measurement


@dataclass(frozen=True, slots=True)
class Measure:
    """How it is taken, how it is drawn, and what a reader has to know of it."""

    about: str
    measure: Callable[[Lake], Measurement]
    draw: Callable[[Figure, Measurement], None]

    @property
    def title(self) -> str:
        """One line."""
        return self.about.partition("\n")[0].rstrip(".")

    @property
    def method(self) -> str:
        """What is measured, how, and against what."""
        return self.about.partition("\n")[2].strip()


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "select-1": Measure(select_one.__doc__ or "", select_one.measure, select_one.draw),
        "clients": Measure(clients.__doc__ or "", clients.measure, clients.draw),
        "long-poll": Measure(long_poll.__doc__ or "", long_poll.measure, long_poll.draw),
        "demo-query": Measure(demo_query.__doc__ or "", demo_query.measure, demo_query.draw),
        "memory": Measure(memory.__doc__ or "", memory.measure, memory.draw),
    }
)


def save_picture(name: str, measurement: Measurement) -> None:
    """Draws the measurement into `bench/results/<name>.png`."""
    figure = Figure(figsize=(10, 5), layout="constrained")
    figure.suptitle(MEASURES[name].title)
    MEASURES[name].draw(figure, measurement)
    figure.savefig(RESULTS / f"{name}.png", dpi=100, metadata={"Software": None})
