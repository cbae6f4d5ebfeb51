"""Probes: is the process alive, and can it answer queries?"""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.http.app_context import CurrentAppContext
from api.http.schemas.administration.health import (
    HealthAnswer,
    LivenessAnswer,
    ReadinessAnswer,
    liveness_answer,
    readiness_answer,
)

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> HealthAnswer:
    """Answers as long as the process does, whatever the state of its parts."""
    return HealthAnswer()


@router.get("/livez", responses={503: {"model": LivenessAnswer, "description": "Only a restart helps."}})
async def livez(app_context: CurrentAppContext, response: Response) -> LivenessAnswer:
    """Whether the process should keep running; 503 if its engine was down for too long and not replaced."""
    # Reads memory only: the engine is not asked.
    liveness = app_context.access.liveness()
    response.status_code = 200 if liveness.is_alive else 503
    return liveness_answer(liveness)


@router.get(
    "/readyz", responses={503: {"model": ReadinessAnswer, "description": "Queries cannot be answered."}}
)
async def readyz(app_context: CurrentAppContext, response: Response) -> ReadinessAnswer:
    """The state of every part, by name; 200 if queries can be answered."""
    readiness = await app_context.access.readiness()
    response.status_code = 200 if readiness.is_ready else 503
    return readiness_answer(readiness)
