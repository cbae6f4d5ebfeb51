"""What the probes say."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from api.schemas.wire import WireModel
from service.model.health import PartState, Readiness


class ReadyStatus(StrEnum):
    """DEGRADED: queries are answered, but something else is down."""

    READY = "READY"
    DEGRADED = "DEGRADED"
    NOT_READY = "NOT_READY"


class HealthAnswer(WireModel):
    """The process answers."""

    status: Literal["UP"] = "UP"


class PartAnswer(WireModel):
    """How one part is doing."""

    state: PartState
    detail: str


class ReadinessAnswer(WireModel):
    """How all parts are doing, by name."""

    status: ReadyStatus
    parts: dict[str, PartAnswer]


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
