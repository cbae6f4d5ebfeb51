"""Whether and how advice on layouts is tried on copies of tables."""

from __future__ import annotations

from pydantic import BaseModel, Field


class LayoutTrialSettings(BaseModel):
    """Whether callers may have advice tried, and how much a trial may copy."""

    layout_trials_enabled: bool = Field(
        False,
        description="whether callers who may maintain a table may have advice on it tried on a copy, which "
        "rewrites its files below the table's location and deletes them at the end",
    )
    layout_trials_max_table_bytes: int = Field(
        10 * 1024**3, ge=1, description="bytes of data files of a table that is tried, at most"
    )
    layout_trials_timeout_s: float = Field(
        1_800, ge=1, le=86_400, description="how long a trial may take; one runs at a time, at any replica"
    )
