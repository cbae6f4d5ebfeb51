"""How the parts that the gateway stands on are doing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PartState(StrEnum):
    """Whether a part can be used now."""

    UP = "UP"
    STARTING = "STARTING"
    DOWN = "DOWN"


@dataclass(frozen=True, slots=True)
class PartHealth:
    """One part by name; `detail` says what is wrong, without addresses or secrets.

    `given_up_count`: what runs on in it although nobody waits for it; `lost_count`: how often it had to be
    started anew; `down_s`: for how long it has not been up, where that is known.
    """

    name: str
    state: PartState
    detail: str = ""
    is_required: bool = False
    given_up_count: int = 0
    lost_count: int = 0
    down_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Vitals:
    """What the metrics tell of the gateway's health now: `given_up_workers` hang with queries that ended."""

    engine: PartHealth
    given_up_workers: int


@dataclass(frozen=True, slots=True)
class Liveness:
    """Alive as long as the engine is not down for longer than its replacement could take."""

    engine_down_s: float = 0.0
    engine_max_down_s: float = 0.0

    @property
    def is_alive(self) -> bool:
        """Whether the process can still help itself.

        >>> Liveness(100, 315).is_alive, Liveness(316, 315).is_alive, Liveness().is_alive
        (True, False, True)
        """
        return self.engine_down_s <= self.engine_max_down_s


@dataclass(frozen=True, slots=True)
class Readiness:
    """Ready when every required part is up; the others are named all the same."""

    parts: tuple[PartHealth, ...]

    @property
    def is_ready(self) -> bool:
        """Whether queries can be answered."""
        return all(part.state is PartState.UP for part in self.parts if part.is_required)

    @property
    def is_degraded(self) -> bool:
        """Whether something is down that queries can do without."""
        return any(part.state is not PartState.UP for part in self.parts)
