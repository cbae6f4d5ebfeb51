"""How scans are narrowed."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.kinds import GIB, KIB, MIB
from service.model.query.rewrites import RewriteKind


class PruningSettings(BaseModel):
    """How scans are narrowed."""

    dynamic_filtering_enabled: bool = Field(True, description="narrow scans by the keys that they join")
    dynamic_filtering_max_filter_bytes: int = Field(
        32 * MIB, ge=KIB, le=GIB, description="keys of one filter in Arrow at most"
    )
    dynamic_filtering_processes: int = Field(
        2, ge=1, le=64, description="processes that read texts and look for filters; each takes some 80 MB"
    )
    dynamic_filtering_detection_timeout_s: int = Field(
        2,
        ge=1,
        le=60,
        description="how long that may take, and wait for its turn; past it, the query runs as it is written",
    )
    dynamic_filtering_collect_timeout_s: int = Field(
        10, ge=1, le=600, description="how long a query waits for its filters"
    )
    dynamic_filtering_max_collection_s: int = Field(
        120,
        ge=1,
        le=86_400,
        description="after which a filter is collected no longer, though no query waits for it any more",
    )
    dynamic_filtering_collectors: int = Field(
        8, ge=1, le=256, description="filters that are collected at the same time"
    )
    dynamic_filtering_max_in_list: int = Field(
        200, ge=1, le=10_000, description="keys as a list at most; Iceberg's statistics stop at 200"
    )
    dynamic_filtering_max_listed_keys: int = Field(
        2_000,
        ge=1,
        le=100_000,
        description="keys in lists at most, where ranges cannot narrow or would be too many",
    )
    dynamic_filtering_max_ranges: int = Field(32, ge=1, le=1000, description="ranges of one filter at most")
    dynamic_filtering_max_tuple_alternatives: int = Field(
        200,
        ge=1,
        le=2_000,
        description="alternatives of one filter on several columns at most; neighbours become ranges then",
    )
    dynamic_filtering_max_tuple_values: int = Field(
        2_000, ge=1, le=20_000, description="values in one filter on several columns at most"
    )
    dynamic_filtering_min_table_bytes: int = Field(
        16 * MIB, ge=0, le=2**53, description="smaller tables are not narrowed; a file counts 64 KiB more"
    )
    dynamic_filtering_max_build_rows: int = Field(
        5_000_000, ge=1, le=2**53, description="rows of a table that keys are collected from"
    )
    dynamic_filtering_max_collected_files: int = Field(
        64,
        ge=0,
        le=100_000,
        description="files of a table whose keys the gateway reads itself; of more, Spark collects them",
    )
    dynamic_filtering_max_listed_files: int = Field(
        20_000,
        ge=0,
        le=10_000_000,
        description="files or partitions whose values are looked up; a table with more has bounds",
    )
    dynamic_filtering_listing_max_bytes: int = Field(
        64 * MIB, ge=0, le=64 * GIB, description="memory for what files hold"
    )
    dynamic_filtering_manifest_timeout_s: float = Field(
        0.5,
        ge=0,
        le=60,
        description="how long a query waits for manifests that nobody has read; they are read to the end",
    )
    rewrites: tuple[RewriteKind, ...] = Field(
        tuple(RewriteKind), description="what is changed in a query's text besides its filters"
    )
    local_relation_max_rows: int = Field(
        30_000, ge=0, le=1_000_000, description="rows of a small table that stay in the engine's memory"
    )
    local_relation_max_bytes: int = Field(
        8 * MIB, ge=0, le=GIB, description="the same in bytes; larger ones are read from their files"
    )
    local_relations_max_bytes: int = Field(
        128 * MIB, ge=0, le=16 * GIB, description="memory of the engine for all such tables together"
    )
