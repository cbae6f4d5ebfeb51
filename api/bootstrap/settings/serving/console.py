"""Settings of the console."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ConsoleSettings(BaseModel):
    """Whether browsers get the console, and how long a login lasts."""

    console: bool = Field(
        True, description="browsers get the console at /console; it is static files, and asks as callers do"
    )
    console_session_s: int = Field(
        12 * 3600,
        ge=60,
        le=30 * 86_400,
        description="how long a login to the console lasts; it ends earlier with its API key or its token",
    )
