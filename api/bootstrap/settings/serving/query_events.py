"""How many clients follow queries by events, and how."""

from __future__ import annotations

from pydantic import BaseModel, Field


class QueryEventSettings(BaseModel):
    """How many clients follow queries by events, and how."""

    max_event_streams: int = Field(
        500, ge=0, le=100_000, description="open streams of GET /query/{id}/events together, before a 429"
    )
    max_event_streams_per_caller: int = Field(
        50,
        ge=0,
        le=100_000,
        description="the same for one caller with a credential",
    )
    event_interval_s: float = Field(
        1.0, ge=0.1, le=60, description="how often a stream looks for a query's progress"
    )
    event_heartbeat_s: float = Field(
        15.0, ge=1, le=300, description="silence after which a stream sends a comment"
    )
    event_stream_max_s: float = Field(
        900.0, ge=1, le=86_400, description="how long a stream lives before its client has to connect again"
    )
