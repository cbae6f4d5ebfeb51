"""Settings of callers' saved queries."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import KIB, MIB


class SavedQuerySettings(BaseModel):
    """How many queries may be saved, and how large one is."""

    max_saved_queries: int = Field(
        100_000, ge=1, le=1_000_000, description="saved queries of all callers together"
    )
    max_saved_queries_per_caller: int = Field(
        500, ge=0, le=100_000, description="saved queries of one caller; 0: nobody can save new ones"
    )
    max_saved_query_bytes: int = Field(
        100 * KIB, ge=1, le=4 * MIB, description="bytes of one saved query's text"
    )
    max_saved_query_name_characters: int = Field(
        200, ge=1, le=1_000, description="characters of one saved query's name"
    )
