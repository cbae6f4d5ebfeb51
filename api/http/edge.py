"""What every route needs, as dependencies: the edge of this app, and who is calling.

They never block, and are `async` for that reason: FastAPI sends plain functions through a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers

from api.bootstrap.settings import Settings
from api.http.door import Door
from api.http.middleware.callers import ANONYMOUS
from api.http.middleware.process_metrics import ProcessMetrics
from api.http.middleware.request_log import caller_in
from api.http.problems.errors import UnsupportedMediaType
from api.http.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Edge:
    """The settings, the way to the gateway, and those who wait."""

    settings: Settings
    door: Door
    waiting: Waiting
    process_metrics: ProcessMetrics


async def edge_of(request: Request) -> Edge:
    """The edge of the app that serves this request."""
    edge: Edge = request.app.state.edge
    return edge


async def caller_of(request: Request) -> str:
    """The caller's name."""
    return caller_in(request.scope) or ANONYMOUS


def media_type(request: Request) -> str:
    """What the body is announced as, without its parameters."""
    return Headers(scope=request.scope).get("Content-Type", "").split(";")[0].strip().lower()


def is_json(request: Request) -> bool:
    """Whether the body is announced as JSON."""
    content_type = media_type(request)
    return content_type == "application/json" or content_type.endswith("+json")


async def require_json(request: Request) -> None:
    """Raises UnsupportedMediaType unless the body is announced as JSON."""
    if not is_json(request):
        raise UnsupportedMediaType


async def gone(request: Request) -> None:
    """Ends when the client hangs up; its body has to be read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


EdgeOfApp = Annotated[Edge, Depends(edge_of)]
Caller = Annotated[str, Depends(caller_of)]
