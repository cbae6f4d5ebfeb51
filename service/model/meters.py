"""What the gateway has done since its start, as numbers that a monitor reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class MeterKind(StrEnum):
    """What a number means: COUNTER only grows, GAUGE is as it is now, HISTOGRAM counts by upper bounds."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """One number. `suffix` is added to the family's name: `_bucket`, `_sum`, `_count` of a histogram."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class MeterFamily:
    """Numbers of one name, told apart by their labels. `meaning` is a sentence for people."""

    name: str
    meaning: str
    kind: MeterKind
    samples: Sequence[Sample]
