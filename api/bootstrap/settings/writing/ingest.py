"""Which tables callers may write to, how the gateway commits to them, and the memory that this takes."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import GIB, MIB, Words


class IngestSettings(BaseModel):
    """Which tables callers may write to, how the gateway commits to them, and the memory that this takes."""

    ingest_tables: Words = Field(
        ("*",),
        description="full names of the tables that callers may write to, `*` for any part; none: `[]`;"
        " the dead letters of each go to a table beside it, which need not be listed",
    )
    ingest_created_tables: Words = Field(
        ("*",),
        description="of these, the ones that callers may create if they are missing; none: `[]`;"
        " tables of dead letters are created in any case",
    )
    ingest_evolved_tables: Words = Field(
        ("*",), description="of these, the ones whose schema callers may evolve; none: `[]`"
    )
    ingest_max_fields: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="maximum number of fields, nested ones included, that a table may get",
    )
    ingest_max_sort_orders: int = Field(
        100,
        ge=0,
        le=10_000,
        description="maximum number of sort orders that a table may get; a table never drops one",
    )
    ingest_commit_interval_ms: int = Field(
        200,
        ge=0,
        le=600_000,
        description="how long a commit waits for ingests that are being written",
    )
    ingest_commit_max_files: int = Field(
        10_000, ge=1, le=1_000_000, description="data files of one commit at most; more wait for the next"
    )
    ingest_commit_max_ingests: int = Field(
        10_000, ge=1, le=1_000_000, description="ingests of one commit at most; more wait for the next"
    )
    ingest_commit_max_bytes: int = Field(
        64 * MIB,
        ge=MIB,
        le=GIB,
        description="maximum size of one commit's file descriptions, unless a single ingest has more",
    )
    ingest_parallel_commits: int = Field(
        4, ge=1, le=64, description="tables and branches that are committed to at once"
    )
    ingest_buffered_bytes: int = Field(
        64 * MIB,
        ge=MIB,
        le=16 * GIB,
        description="rows that an ingest holds in memory before writing; it takes about three times that",
    )
    ingest_turns: int = Field(
        2,
        ge=1,
        le=64,
        description="small ingests that are read and encoded at once; more would slow each other down",
    )
    ingest_writers: int = Field(
        2, ge=1, le=64, description="targets of one ingest whose files are written at once"
    )
    ingest_open_files: int = Field(
        16, ge=1, le=1000, description="data files that an ingest has open at once"
    )
    ingest_fsync: bool = Field(
        True,
        description="whether on a disk (`file:`) data files are synced before an ingest is accepted, and"
        " metadata before it is committed, so that they survive a power failure; each takes some milliseconds"
        " longer",
    )
    ingest_retention_days: int = Field(
        30, ge=1, le=3650, description="how long ended ingests and their `requestId`s are known"
    )
    ingest_upsert_bytes: int = Field(
        128 * MIB,
        ge=MIB,
        le=16 * GIB,
        description="size of an upsert's rows in memory, one for each key, in the gateway or in a Spark task;"
        " it takes about three times that",
    )
    ingest_upsert_listed_files: int = Field(
        1_000,
        ge=0,
        le=100_000,
        description="maximum number of data files of a branch for which an upsert's commit compares its keys"
        " with each file's bounds and leaves out deletes without effect; with more files it keeps"
        " all deletes",
    )
    ingest_upsert_joined_rows: int = Field(
        1_000_000,
        ge=0,
        le=100_000_000,
        description="maximum number of rows of an upsert, and of all before it in the same commit, whose keys"
        " are compared; a larger upsert is a commit of its own; 0: each is",
    )
    ingest_upsert_joined_files: int = Field(
        1_000,
        ge=0,
        le=100_000,
        description="maximum number of data and delete files of an upsert, and of all before it in the same"
        " commit, that are read to compare keys; a larger upsert is a commit of its own",
    )
    ingest_ordered_keys: int = Field(
        250_000,
        ge=1,
        le=10_000_000,
        description="about how many keys of upserts with `orderBy` a commit compares at once with the rows of"
        " the table; more are compared in several reads of the table",
    )
    ingest_ordered_read_s: float = Field(
        600.0,
        gt=0,
        le=86_400,
        description="how long one such read may take, or one search for the rows that an upsert deletes by"
        " position; after that the commit waits, and tries again",
    )
    ingest_upsert_vector_rows: int = Field(
        1_000_000,
        ge=0,
        le=100_000_000,
        description="how many rows of a table of format version 3 one commit deletes by deletion vectors,"
        " which every reader knows; more are deleted by their keys. 0: all are",
    )
