"""Settings of callers' sessions."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import KIB, MIB


class SessionSettings(BaseModel):
    """How many sessions there may be, how large one is, and how long it lasts."""

    max_sessions: int = Field(
        10_000, ge=1, le=1_000_000, description="sessions of all callers at all replicas together"
    )
    max_sessions_per_caller: int = Field(100, ge=1, le=1_000_000, description="sessions of one caller")
    session_ttl_s: int = Field(
        3_600, ge=1, le=7 * 86_400, description="a session that is not used for so long ends"
    )
    max_session_views: int = Field(50, ge=0, le=1_000, description="temporary views of one session")
    max_session_bytes: int = Field(
        256 * KIB,
        ge=KIB,
        le=16 * MIB,
        description="bytes of one session's values, with the texts of its views",
    )
