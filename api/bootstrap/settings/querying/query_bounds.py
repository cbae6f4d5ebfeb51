"""Bounds on what one statement may ask of the engine, however short it is."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import GIB, KIB, MIB


class QueryBoundSettings(BaseModel):
    """Bounds on what one statement may ask of the engine, however short it is."""

    max_value_bytes: int = Field(
        32 * MIB,
        ge=MIB,
        le=GIB,
        description="bytes that `repeat`, `sequence` and the like may make in one query: 4 million numbers",
    )
    max_row_copies: int = Field(
        4096,
        ge=16,
        le=1_000_000,
        description="grouping sets, overlapping windows, rows of `stack`, and levels of a recursion",
    )
    max_partitions: int = Field(
        10_000, ge=1, le=1_000_000, description="partitions that a hint or `range` may ask for"
    )
    max_query_tasks: int = Field(
        100_000, ge=100, le=10_000_000, description="tasks of a query's plan, all stages together"
    )
    max_view_depth: int = Field(
        20, ge=1, le=90, description="views within views that a query under policies may read"
    )
    max_read_batch_rows: int = Field(
        16_384, ge=1, le=1_000_000, description="the most that the read option `batch-size` takes"
    )
    min_read_split_bytes: int = Field(
        MIB, ge=KIB, le=GIB, description="the least that the read option `split-size` takes"
    )
