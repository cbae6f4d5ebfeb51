"""How many queries run, for how long, and how much they may return."""

from __future__ import annotations

import os
from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.querying.resource_groups import ResourceGroupsSetting
from api.bootstrap.settings.value_types import GIB, KIB, MIB


class QuerySettings(BaseModel):
    """How many queries run, for how long, and how much they may return."""

    query_workers: int = Field(
        default_factory=lambda: max(4, 2 * (os.cpu_count() or 1)),
        ge=1,
        le=1024,
        description="long queries of one caller that run at the same time; one place more is for others",
    )
    max_queued_queries: int = Field(1000, ge=0, le=1_000_000, description="queries that wait before a 429")
    short_query_workers: int = Field(
        2, ge=0, le=1024, description="places for short queries alone, beside those of query_workers; 0: none"
    )
    short_query_max_bytes: int = Field(
        32 * MIB, ge=0, le=64 * GIB, description="a query is short if its plan selects no more bytes of files"
    )
    short_query_max_s: float = Field(
        10.0, ge=0.1, le=3600, description="a short query that runs for longer counts as a long one"
    )
    queries_planned_ahead: int = Field(
        4, ge=1, le=1000, description="long queries of a resource group that are planned before their turn"
    )
    resource_groups: ResourceGroupsSetting = Field(
        {},
        description="resource groups as Trino writes them: JSON, or the path of a JSON file. Unset: one group"
        " for each caller, all equal",
    )
    engine_retries: int = Field(1, ge=0, le=3, description="how often a query runs again if its engine dies")
    warm_up_queries: int = Field(
        0,
        ge=0,
        le=1000,
        description="the queries asked most often, which run once on each new engine while no caller's query"
        " runs; 0: none",
    )
    warm_up_history_days: int = Field(7, ge=1, le=365, description="the days whose queries count for that")
    warm_up_query_s: float = Field(
        20.0, ge=0.1, le=3600, description="how long one of these queries may take"
    )
    warm_up_s: float = Field(120.0, ge=1, le=3600, description="how long all of them may take on one engine")
    query_timeout_s: int = Field(300, ge=1, le=86_400, description="timeout of queries that set none")
    max_query_timeout_s: int = Field(3600, ge=1, le=86_400, description="the most that a query may set")
    row_limit: int = Field(10_000, ge=1, le=1_000_000_000, description="row limit of queries that set none")
    max_row_limit: int = Field(1_000_000, ge=1, le=1_000_000_000, description="the most that one may set")
    byte_limit: int = Field(100 * MIB, ge=KIB, le=64 * GIB, description="byte limit of queries that set none")
    max_byte_limit: int = Field(GIB, ge=KIB, le=64 * GIB, description="the most that a query may set")
    max_sql_nesting: int = Field(
        200,
        ge=16,
        le=1_000,
        description="parentheses, brackets and CASEs that are open at once in a text, before a 422",
    )
    max_sql_bytes: int = Field(
        256 * KIB,
        ge=KIB,
        le=64 * MIB,
        description="size of an SQL text in UTF-8; parsing one delays others",
    )
    max_parameters: int = Field(1000, ge=0, le=100_000, description="parameters of one query")
    result_ttl_s: int = Field(600, ge=1, le=86_400, description="how long a result can be read")
    result_max_bytes: int = Field(
        2 * GIB, ge=MIB, le=1024 * GIB, description="disk space of all results together; the oldest make room"
    )
    formatted_results_max_bytes: int = Field(
        GIB,
        ge=MIB,
        le=1024 * GIB,
        description="disk space of Parquet files of results that are read in parts, in `data_dir`, beside"
        " `result_max_bytes`; the least used make room",
    )
    result_inline_bytes: int = Field(
        4 * MIB,
        ge=0,
        le=64 * MIB,
        description="bytes that all tasks of a query may send to the driver; larger results are files",
    )
    result_task_inline_bytes: int = Field(256 * KIB, ge=0, le=64 * MIB, description="the same for each task")
    chunk_rows: int = Field(10_000, ge=1, le=1_000_000, description="rows of a chunk at most")
    chunk_bytes: int = Field(8 * MIB, ge=KIB, le=GIB, description="bytes of a chunk in Arrow at most")

    @model_validator(mode="after")
    def _defaults_are_within_their_maximum(self) -> Self:
        pairs = [("query_timeout_s", "max_query_timeout_s"), ("row_limit", "max_row_limit")]
        for name, maximum in [*pairs, ("byte_limit", "max_byte_limit")]:
            if getattr(self, name) > getattr(self, maximum):
                raise ValueError(f"{name} is larger than {maximum}")
        return self
