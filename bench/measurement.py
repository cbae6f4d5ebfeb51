"""The result of a measure: rows for people, samples for the picture, both in one JSON file."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
import psutil

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `low` and `high` are the extremes of the samples whose median `value` is."""

    label: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    target: str | None = None
    is_met: bool | None = None

    @property
    def text(self) -> str:
        """The figure as readers see it."""
        extremes = (
            "" if self.low is None or self.high is None else f" ({_short(self.low)}-{_short(self.high)})"
        )
        return f"{_short(self.value)}{extremes} {self.unit}".rstrip()

    @property
    def verdict(self) -> str:
        """The target, and whether it was met; empty if there is none."""
        return "" if self.target is None else f"{self.target}: {'met' if self.is_met else 'MISSED'}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measure's rows, its samples by series, and remarks that explain the numbers."""

    rows: Sequence[Row]
    samples: dict[str, Any]
    remarks: Sequence[str] = field(default_factory=tuple)


def spread(label: str, samples: Sequence[float], unit: str = "ms") -> Row:
    """Returns the median of the samples, with their extremes."""
    return Row(label, statistics.median(samples), unit, min(samples), max(samples))


def percentile(samples: Sequence[float], percent: float) -> float:
    """Returns the smallest sample that at least this percentage of all does not exceed.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 50)
    2.0
    """
    ordered = sorted(samples)
    return ordered[max(0, -(-len(ordered) * percent // 100).__int__() - 1)]


def write(name: str, measurement: Measurement) -> Path:
    """Saves the measurement as JSON, with the machine that it was taken on."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {"name": name, "machine": _machine()} | asdict(measurement)
    path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2, default=str) + b"\n")
    return path


def read(name: str) -> tuple[Measurement, str] | None:
    """Returns the latest measurement of this name, and its machine; None if there is none."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    content = orjson.loads(path.read_bytes())
    rows = [Row(**fields) for fields in content["rows"]]
    return Measurement(rows, content["samples"], content["remarks"]), content["machine"]


def _machine() -> str:
    gigabytes = psutil.virtual_memory().total / 1024**3
    return f"{os.cpu_count()} cores, {gigabytes:.0f} GB, Python {platform.python_version()}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
