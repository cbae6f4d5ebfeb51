"""How the gateway prunes scans."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import GIB, KIB, MIB, Listed
from service.model.query.rewrites import RewriteKind


class PruningSettings(BaseModel):
    """How the gateway prunes scans."""

    dynamic_filtering_enabled: bool = Field(True, description="prune scans by the keys that they join")
    dynamic_filtering_max_filter_bytes: int = Field(
        32 * MIB, ge=KIB, le=GIB, description="maximum size of one filter's keys in Arrow"
    )
    dynamic_filtering_processes: int = Field(
        2, ge=1, le=64, description="processes that read texts and look for filters; each takes about 80 MB"
    )
    dynamic_filtering_detection_timeout_s: int = Field(
        2,
        ge=1,
        le=60,
        description="how long the search for filters may take, with its wait; then the query runs as written",
    )
    dynamic_filtering_collect_timeout_s: int = Field(
        10, ge=1, le=600, description="how long a query waits for its filters"
    )
    dynamic_filtering_max_collection_s: int = Field(
        120,
        ge=1,
        le=86_400,
        description="how long collecting a filter may take, even after its queries have stopped waiting",
    )
    dynamic_filtering_late_filters: bool = Field(
        False,
        description="use a filter that comes after its query has begun, if the scan that it prunes has not;"
        " set it after all replicas have been updated",
    )
    dynamic_filtering_collectors: int = Field(
        8, ge=1, le=256, description="filters that are collected at the same time"
    )
    dynamic_filtering_max_in_list: int = Field(
        200, ge=1, le=10_000, description="maximum number of keys in a list; Iceberg's statistics stop at 200"
    )
    dynamic_filtering_max_listed_keys: int = Field(
        2_000,
        ge=1,
        le=100_000,
        description="maximum number of keys in lists, where ranges cannot prune or would be too many",
    )
    dynamic_filtering_max_ranges: int = Field(32, ge=1, le=1000, description="ranges of one filter at most")
    dynamic_filtering_max_tuple_alternatives: int = Field(
        200,
        ge=1,
        le=2_000,
        description="maximum number of alternatives of one filter on several columns; beyond it, neighbours"
        " become ranges",
    )
    dynamic_filtering_max_tuple_values: int = Field(
        2_000, ge=1, le=20_000, description="maximum number of values in one filter on several columns"
    )
    dynamic_filtering_tuples_max_bytes: int = Field(
        128 * MIB,
        ge=0,
        le=64 * GIB,
        description="memory of the engine for keys of several columns, which scans compare with each file"
        " that they choose from memory (`SLUICE_MANIFEST_ENTRIES_MAX_BYTES`); about 20 bytes for each value;"
        " a filter that takes more than half of it is not compared; 0: none is",
    )
    dynamic_filtering_min_table_bytes: int = Field(
        16 * MIB, ge=0, le=2**53, description="smaller tables are not pruned; each file adds 64 KiB"
    )
    dynamic_filtering_max_build_rows: int = Field(
        5_000_000,
        ge=1,
        le=2**53,
        description="maximum number of rows of a table that keys are collected from",
    )
    dynamic_filtering_max_collected_files: int = Field(
        64,
        ge=0,
        le=100_000,
        description="maximum number of files of a table whose keys the gateway reads itself; beyond it, Spark"
        " does",
    )
    dynamic_filtering_max_carried_commits: int = Field(
        100,
        ge=0,
        le=10_000,
        description="maximum number of commits over which cached keys are carried over; 0: every commit has"
        " keys collected anew",
    )
    dynamic_filtering_kept_sets: int = Field(
        0,
        ge=0,
        le=64,
        description="number of key sets of one table and key that keep their rows, so that sets"
        " with conditions within theirs need no collection; 0: none does",
    )
    dynamic_filtering_kept_columns: int = Field(
        8, ge=0, le=64, description="maximum number of columns that a key set keeps besides its keys"
    )
    dynamic_filtering_kept_rows: int = Field(
        100_000, ge=1, le=10_000_000, description="a key set with more rows keeps none"
    )
    dynamic_filtering_kept_bytes: int = Field(
        4 * MIB, ge=KIB, le=512 * MIB, description="a key set with more bytes of rows keeps none"
    )
    dynamic_filtering_max_listed_files: int = Field(
        20_000,
        ge=0,
        le=10_000_000,
        description="maximum number of files or partitions whose values are looked up; a table with more has"
        " bounds",
    )
    dynamic_filtering_listing_max_bytes: int = Field(
        64 * MIB, ge=0, le=64 * GIB, description="memory for the values in files"
    )
    dynamic_filtering_manifest_timeout_s: float = Field(
        0.5,
        ge=0,
        le=60,
        description="how long a query waits for manifests that are not read yet; the reading goes on",
    )
    dynamic_filtering_texts_max_bytes: int = Field(
        64 * MIB,
        ge=0,
        le=64 * GIB,
        description="memory for parsed texts of queries, as much again for the filters found in them, and"
        " again for the texts with these; a text takes about 120 times its length",
    )
    rewrites: Listed[RewriteKind] = Field(
        tuple(RewriteKind), description="changes to a query's text besides its filters"
    )
    local_relation_max_rows: int = Field(
        30_000,
        ge=0,
        le=1_000_000,
        description="maximum number of rows of a small table that stays in the engine's memory",
    )
    local_relation_max_bytes: int = Field(
        8 * MIB, ge=0, le=GIB, description="the same in bytes; larger ones are read from their files"
    )
    local_relations_max_bytes: int = Field(
        128 * MIB, ge=0, le=16 * GIB, description="memory of the engine for all such tables together"
    )
    hash_relations_max_bytes: int = Field(
        0,
        ge=0,
        le=16 * GIB,
        description="memory of the engine, in local mode, for what queries make of such tables: filtered"
        " rows, and the hashed rows that joins read; 0: each query makes its own",
    )
    manifest_entries_max_bytes: int = Field(
        0,
        ge=0,
        le=64 * GIB,
        description="memory of the engine for decoded entries of manifests, from which scans choose their"
        " files; about 1.5 KiB for each data file, and 0.6 KiB more for each column that filters name; 0:"
        " each scan reads the manifests",
    )
    kept_plans_max_bytes: int = Field(
        0,
        ge=0,
        le=16 * GIB,
        description="memory of the engine for analyzed plans of pruned queries, which later queries with the"
        " same text and values use until one of their tables changes; 0: each query is parsed and analyzed",
    )
    row_group_counts_max_bytes: int = Field(
        32 * MIB,
        ge=0,
        le=16 * GIB,
        description="memory of the engine, in local mode, for how many row groups readers have selected in"
        " each part of a file by each filter, which explanations show; about 0.7 KiB for each; 0: they are"
        " not counted",
    )
    row_group_file_pruning: bool = Field(
        False,
        description="whether scans leave out files of which readers have selected no row group by the same"
        " filter before; it needs `manifest_entries_max_bytes` and `row_group_counts_max_bytes`",
    )
