"""The health of the parts that the gateway depends on."""

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
    """The health of one part; `detail` says what is wrong, without addresses or secrets.

    `given_up_count` is how many tasks still run in it although nothing waits for them. `lost_count` is how
    often it had to be restarted. `down_s` is how long it has not been up, where that is known.
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
    """The health facts that become metrics; `given_up_workers` hang with queries that ended."""

    engine: PartHealth
    given_up_workers: int


@dataclass(frozen=True, slots=True)
class Liveness:
    """The gateway's liveness: it is alive unless the engine is down for longer than replacing it can take."""

    engine_down_s: float = 0.0
    engine_max_down_s: float = 0.0

    @property
    def is_alive(self) -> bool:
        """Whether the process can still recover by itself.

        >>> Liveness(100, 315).is_alive, Liveness(316, 315).is_alive, Liveness().is_alive
        (True, False, True)
        """
        return self.engine_down_s <= self.engine_max_down_s


@dataclass(frozen=True, slots=True)
class Readiness:
    """The gateway's readiness: it is ready when every required part is up; optional parts are listed too."""

    parts: tuple[PartHealth, ...]

    @property
    def is_ready(self) -> bool:
        """Whether queries can be answered."""
        return all(part.state is PartState.UP for part in self.parts if part.is_required)

    @property
    def is_degraded(self) -> bool:
        """Whether a part is down that queries can do without."""
        return any(part.state is not PartState.UP for part in self.parts)
