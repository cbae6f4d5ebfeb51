"""Probes: is the process alive, and can it answer queries?"""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.edge import EdgeOfApp
from api.schemas.health import HealthAnswer, ReadinessAnswer, readiness_answer

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> HealthAnswer:
    """The process answers, whatever its parts do."""
    return HealthAnswer()


@router.get(
    "/readyz", responses={503: {"model": ReadinessAnswer, "description": "Queries cannot be answered."}}
)
async def readyz(edge: EdgeOfApp, response: Response) -> ReadinessAnswer:
    """How every part is doing, by name; 200 when queries can be answered."""
    readiness = await edge.door.readiness()
    response.status_code = 200 if readiness.is_ready else 503
    return readiness_answer(readiness)
