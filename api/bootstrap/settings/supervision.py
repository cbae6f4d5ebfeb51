"""When the engine counts as down, and when it is replaced."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SupervisionSettings(BaseModel):
    """When the engine counts as down, and when it is replaced."""

    engine_probe_interval_s: float = Field(
        1.0, ge=0.1, le=60, description="pause between two trial queries that ask the engine how it is"
    )
    engine_probe_timeout_s: float = Field(
        3.0, ge=0.1, le=600, description="how long one may take before `/readyz` says NOT_READY"
    )
    engine_unresponsive_s: float = Field(
        15.0, ge=1, le=3600, description="how long one may take before the engine is replaced"
    )
    engine_grace_s: float = Field(
        5.0,
        ge=0.1,
        le=600,
        description="how long a canceled query may go on in the engine; then it is given up",
    )
    engine_max_given_up: int = Field(
        4,
        ge=1,
        le=1024,
        description="calls and tasks that replace the engine when they go on engine_grace_s after that",
    )
    engine_given_up_timeout_s: float = Field(
        30.0, ge=1, le=86_400, description="how long a single one of them may run before that"
    )
    engine_quarantine_s: float = Field(
        300.0, ge=1, le=86_400, description="how long a text is not run that ran when two engines were lost"
    )
    engine_max_collection_percent: int = Field(
        80, ge=1, le=100, description="part of its time in garbage collection that replaces the engine"
    )
    engine_collection_window_s: float = Field(
        15.0, ge=1, le=3600, description="over how much time that part is measured"
    )
    liveness_patience_s: float = Field(
        300.0,
        ge=1,
        le=86_400,
        description="how long, beyond engine_unresponsive_s, the engine may be down before `/livez` says 503",
    )
    health_timeout_s: float = Field(
        2.0, ge=0.1, le=60, description="how long `/readyz` waits for what a part says of itself"
    )
