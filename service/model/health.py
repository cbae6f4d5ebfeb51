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
    """One part by name; `detail` says what is wrong, without addresses or secrets."""

    name: str
    state: PartState
    detail: str = ""
    is_required: bool = False


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
