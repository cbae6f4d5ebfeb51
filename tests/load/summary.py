"""A load's results in figures: as text, as JSON, and as a row of docs/operations/sizing.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from tests.load.ledger import Ledger
from tests.load.memory import MemoryWatch, at, slope_per_hour

PARTS = ("gateway", "JVM", "readers")
WARM_S = 300.0


@dataclass(frozen=True, slots=True)
class Kind:
    """The requests of one kind. `refused` counts answers of 429 and 503 with a code."""

    name: str
    count: int
    refused: int
    wrong: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Part:
    """The use of one part: MiB of resident memory, or None if the load was too short, and CPU."""

    start_mib: float
    after_5_min_mib: float | None
    end_mib: float
    mib_per_hour: float
    cpu_s: float
    cores: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a load; `seconds` is the length of the observation."""

    callers: int
    seconds: float
    kinds: Sequence[Kind]
    refusals: Mapping[str, int]
    parts: Mapping[str, Part]

    def as_json(self) -> dict[str, object]:
        """Returns the figures as plain values."""
        return asdict(self)

    def as_row(self, workload: str, heap: str) -> str:
        """Returns the row of the table in docs/operations/sizing.md."""
        total = sum(kind.count for kind in self.kinds)
        memory = [f"{part.end_mib:,.0f} ({part.mib_per_hour:+,.0f})" for part in self.parts.values()]
        cores = [f"{part.cores:.2f}" for part in self.parts.values()]
        rate = total / self.seconds if self.seconds else 0.0
        cells = [workload, str(self.callers), f"{self.seconds / 60:.0f}", f"{rate:.1f}", heap]
        return "| " + " | ".join([*cells, *memory, *cores]) + " |"


def summary_of(
    callers: int, requests: Sequence[Mapping[str, str]], ledger: Ledger, memory: MemoryWatch
) -> Summary:
    """Combines locust's counts, the ledger, and the samples of the processes."""
    kinds = [
        Kind(
            request["Name"],
            int(request["Request Count"]),
            ledger.refused_kinds[request["Name"]],
            int(request["Failure Count"]),
            _number(request["50%"]),
            _number(request["95%"]),
        )
        for request in requests
        if request["Name"] != "Aggregated"
    ]
    parts = {name: _part(memory, name) for name in PARTS if memory.mib[name]}
    return Summary(callers, memory.length_s, kinds, dict(ledger.refusals), parts)


def _part(memory: MemoryWatch, name: str) -> Part:
    moments_s, values = memory.moments_s, memory.mib[name]
    cpu_s = memory.cpu_s.get(name, 0.0)
    return Part(
        values[0],
        at(moments_s, values, WARM_S),
        values[-1],
        slope_per_hour(moments_s, values),
        cpu_s,
        cpu_s / memory.length_s if memory.length_s else 0.0,
    )


def _number(text: str) -> float:
    return 0.0 if text in ("", "N/A") else float(text)
