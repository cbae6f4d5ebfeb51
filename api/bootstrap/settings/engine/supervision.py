"""When the engine counts as down, and when it is replaced."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SupervisionSettings(BaseModel):
    """When the engine counts as down, and when it is replaced."""

    engine_probe_interval_s: float = Field(
        1.0, ge=0.1, le=60, description="pause between two trial queries that probe the engine"
    )
    engine_probe_timeout_s: float = Field(
        3.0, ge=0.1, le=600, description="how long such a query may take before `/readyz` says NOT_READY"
    )
    engine_unresponsive_s: float = Field(
        15.0, ge=1, le=3600, description="how long such a query may take before the engine is replaced"
    )
    engine_grace_s: float = Field(
        5.0,
        ge=0.1,
        le=600,
        description="how long a canceled query may go on in the engine before it is given up",
    )
    engine_max_given_up: int = Field(
        4,
        ge=1,
        le=1024,
        description="given-up calls and tasks that replace the engine if they go on for engine_grace_s more",
    )
    engine_given_up_timeout_s: float = Field(
        30.0,
        ge=1,
        le=86_400,
        description="how long a single one of them may run before it replaces the engine",
    )
    engine_quarantine_s: float = Field(
        300.0,
        ge=1,
        le=86_400,
        description="how long a text is refused after two engines were lost while it ran",
    )
    engine_max_collection_percent: int = Field(
        80, ge=1, le=100, description="share of its time in garbage collection that replaces the engine"
    )
    engine_collection_window_s: float = Field(
        15.0, ge=1, le=3600, description="time over which that share is measured"
    )
    liveness_patience_s: float = Field(
        300.0,
        ge=1,
        le=86_400,
        description="how long, beyond engine_unresponsive_s, the engine may be down before `/livez` says 503",
    )
    health_timeout_s: float = Field(
        2.0, ge=0.1, le=60, description="how long `/readyz` waits for a part to report its state"
    )
