"""The answers of the probes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from api.http.schemas.wire import WireModel
from service.model.operations.health import Liveness, PartState, Readiness


class ReadyStatus(StrEnum):
    """DEGRADED: queries are answered, but something else is down."""

    READY = "READY"
    DEGRADED = "DEGRADED"
    NOT_READY = "NOT_READY"


class HealthAnswer(WireModel):
    """The process answers."""

    status: Literal["UP"] = "UP"


class LiveStatus(StrEnum):
    """STUCK: only a restart of the process helps."""

    UP = "UP"
    STUCK = "STUCK"


class LivenessAnswer(WireModel):
    """Whether the process should keep running."""

    status: LiveStatus
    detail: str


class PartAnswer(WireModel):
    """The state of one part."""

    state: PartState
    detail: str


class ReadinessAnswer(WireModel):
    """The state of every part, by name."""

    status: ReadyStatus
    parts: dict[str, PartAnswer]


def liveness_answer(liveness: Liveness) -> LivenessAnswer:
    """Returns the liveness as it is on the wire."""
    if liveness.is_alive:
        return LivenessAnswer(status=LiveStatus.UP, detail="")
    detail = f"The engine has been down for {liveness.engine_down_s:.0f} s, and none could be started."
    return LivenessAnswer(status=LiveStatus.STUCK, detail=detail)


def readiness_answer(readiness: Readiness) -> ReadinessAnswer:
    """Returns the readiness as it is on the wire."""
    return ReadinessAnswer(
        status=_status(readiness),
        parts={part.name: PartAnswer(state=part.state, detail=part.detail) for part in readiness.parts},
    )


def _status(readiness: Readiness) -> ReadyStatus:
    if not readiness.is_ready:
        return ReadyStatus.NOT_READY
    return ReadyStatus.DEGRADED if readiness.is_degraded else ReadyStatus.READY
