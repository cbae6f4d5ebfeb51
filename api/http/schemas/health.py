"""What the probes say."""

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
    """STUCK: nothing but a restart of the process helps."""

    UP = "UP"
    STUCK = "STUCK"


class LivenessAnswer(WireModel):
    """Whether the process should go on."""

    status: LiveStatus
    detail: str


class PartAnswer(WireModel):
    """How one part is doing."""

    state: PartState
    detail: str


class ReadinessAnswer(WireModel):
    """How all parts are doing, by name."""

    status: ReadyStatus
    parts: dict[str, PartAnswer]


def liveness_answer(liveness: Liveness) -> LivenessAnswer:
    """The liveness in the wire's words."""
    if liveness.is_alive:
        return LivenessAnswer(status=LiveStatus.UP, detail="")
    detail = f"The engine has been down for {liveness.engine_down_s:.0f} s, and none could be started."
    return LivenessAnswer(status=LiveStatus.STUCK, detail=detail)


def readiness_answer(readiness: Readiness) -> ReadinessAnswer:
    """The readiness in the wire's words."""
    return ReadinessAnswer(
        status=_status(readiness),
        parts={each.name: PartAnswer(state=each.state, detail=each.detail) for each in readiness.parts},
    )


def _status(readiness: Readiness) -> ReadyStatus:
    if not readiness.is_ready:
        return ReadyStatus.NOT_READY
    return ReadyStatus.DEGRADED if readiness.is_degraded else ReadyStatus.READY
