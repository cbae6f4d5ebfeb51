"""The query string of GET /ingest/{id}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.durations import WaitMs
from api.http.schemas.wire import StrictModel


class IngestStatusQuery(StrictModel):
    """The query string of GET /ingest/{id}."""

    wait_timeout: Annotated[
        WaitMs,
        Field(default="0s", validate_default=True, description="how long this answer may take: 0s to 50s"),
    ]
