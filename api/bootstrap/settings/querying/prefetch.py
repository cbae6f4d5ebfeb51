"""Which key sets are collected before a query asks for them."""

from __future__ import annotations

from pydantic import BaseModel, Field


class PrefetchSettings(BaseModel):
    """Which key sets are collected before a query asks for them."""

    dynamic_filtering_prefetched_sets: int = Field(
        0,
        ge=0,
        le=1_000,
        description="number of key sets of one table that are collected after a commit to it, before a query"
        " asks for them: those asked for most; 0: none",
    )
    dynamic_filtering_prefetch_tables: int = Field(
        32, ge=1, le=1_000, description="number of tables whose commits are noticed for that"
    )
    dynamic_filtering_prefetch_history_s: int = Field(
        86_400, ge=60, le=31_536_000, description="the time whose queries count for that"
    )
    dynamic_filtering_prefetch_interval_s: float = Field(
        10.0,
        ge=1,
        le=3_600,
        description="how often the catalogs are asked for the snapshots of these tables; a commit of an"
        " ingest of this gateway is known at once",
    )
    dynamic_filtering_prefetch_s: float = Field(
        60.0, ge=1, le=3_600, description="how long such collections may take after one look at the catalogs"
    )
