"""Which queries are answered with the results of earlier ones, and which results are kept for that."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import GIB, KIB, MIB


class ReuseResults(StrEnum):
    """Which queries are answered with an earlier result."""

    NEVER = "NEVER"
    ON_REQUEST = "ON_REQUEST"
    ALWAYS = "ALWAYS"


class ReuseSettings(BaseModel):
    """Which queries are answered with the results of earlier ones, and which results are kept for that."""

    reuse_results: ReuseResults = Field(
        ReuseResults.ON_REQUEST,
        description="NEVER; ON_REQUEST: queries with `reuseResult`; ALWAYS: all but those that decline it",
    )
    reuse_max_age_s: int = Field(
        600, ge=1, le=86_400, description="the oldest result that is reused; none outlives `result_ttl_s`"
    )
    reuse_max_entries: int = Field(
        10_000, ge=1, le=1_000_000, description="results that are kept for reuse; the least used make room"
    )
    reuse_max_bytes: int = Field(
        GIB, ge=MIB, le=1024 * GIB, description="the same in bytes of Arrow, of those in `result_max_bytes`"
    )
    reuse_max_result_bytes: int = Field(
        64 * MIB, ge=KIB, le=64 * GIB, description="the largest result that is kept for reuse, in Arrow"
    )
    reuse_shared_max_entries: int = Field(
        100_000,
        ge=0,
        le=10_000_000,
        description="results that replicas with one results_url find in filter_cache_url, the newest; 0:"
        " each replica reuses its own",
    )
    reuse_shared_entry_bytes: int = Field(
        256 * KIB, ge=KIB, le=16 * MIB, description="one of these entries; larger ones stay in their replica"
    )
    reuse_shared_max_wait_s: float = Field(
        30,
        ge=0,
        le=3600,
        description="how long a query waits for an equal one that another replica runs; 0: not at all",
    )
    refresh_results: bool = Field(
        False, description="whether aggregations that reuse results are brought up to date from added files"
    )
    refresh_floating_point: bool = Field(
        False,
        description="whether aggregates of floating-point numbers are brought up to date, too; their last "
        "digits may be rounded in another way",
    )
    refresh_min_table_bytes: int = Field(
        64 * MIB, ge=0, le=1024 * GIB, description="a smaller growing table is read in full"
    )
    refresh_max_state_rows: int = Field(
        100_000, ge=1, le=10_000_000, description="the groups of one aggregation that are kept"
    )
    refresh_max_state_bytes: int = Field(16 * MIB, ge=KIB, le=GIB, description="the same in bytes of Arrow")
    refresh_max_register_bytes: int = Field(
        16 * KIB,
        ge=0,
        le=MIB,
        description="the registers of one `approx_count_distinct` in one group; a smaller `relativeSD` has"
        " more",
    )
    refresh_max_states: int = Field(
        1_000, ge=1, le=100_000, description="aggregations whose groups are kept; the least used make room"
    )
    refresh_max_bytes: int = Field(
        256 * MIB, ge=KIB, le=64 * GIB, description="the same in bytes of Arrow, in the gateway's memory"
    )
    refresh_max_age_s: int = Field(
        86_400,
        ge=1,
        le=2_592_000,
        description="groups that were not brought up to date for so long are dropped",
    )
