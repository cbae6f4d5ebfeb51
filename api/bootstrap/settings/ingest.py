"""Which tables may be written to, how they are committed to, and the memory that it takes."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.kinds import GIB, MIB


class IngestSettings(BaseModel):
    """Which tables may be written to, how they are committed to, and the memory that it takes."""

    ingest_tables: tuple[str, ...] = Field(
        ("*",),
        description="full names of the tables that callers may write to, `*` for any part; none: `[]`;"
        " the dead letters of each go to a table beside it, which need not be among them",
    )
    ingest_created_tables: tuple[str, ...] = Field(
        ("*",),
        description="of these, the ones that callers may make if they are missing; none: `[]`;"
        " tables of dead letters are made in any case",
    )
    ingest_evolved_tables: tuple[str, ...] = Field(
        ("*",), description="of these, the ones whose schema callers may evolve; none: `[]`"
    )
    ingest_max_fields: int = Field(
        10_000, ge=1, le=1_000_000, description="fields, nested ones too, that callers may bring a table to"
    )
    ingest_max_sort_orders: int = Field(
        100,
        ge=0,
        le=10_000,
        description="sort orders that callers may bring a table to; a table never forgets one",
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
        description="what is written down of one commit's files at most, unless a single ingest has more",
    )
    ingest_parallel_commits: int = Field(
        4, ge=1, le=64, description="tables and branches that are committed to at once"
    )
    ingest_buffered_bytes: int = Field(
        64 * MIB,
        ge=MIB,
        le=16 * GIB,
        description="rows in memory before they are written; an ingest takes about three times that",
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
        " metadata before it is committed, so that they outlast a power failure; both take some milliseconds"
        " longer",
    )
    ingest_retention_days: int = Field(
        30, ge=1, le=3650, description="how long ended ingests and their `requestId`s are known"
    )
    ingest_upsert_bytes: int = Field(
        128 * MIB,
        ge=MIB,
        le=16 * GIB,
        description="rows of an upsert in memory, one for each key, here or in a task of Spark;"
        " it takes about three times that",
    )
    ingest_upsert_listed_files: int = Field(
        1_000,
        ge=0,
        le=100_000,
        description="data files of a branch up to which the commit of an upsert compares its keys with each"
        " file's bounds and leaves out deletes that can delete nothing; with more files it keeps all deletes",
    )
    ingest_upsert_joined_rows: int = Field(
        1_000_000,
        ge=0,
        le=100_000_000,
        description="rows of an upsert and of all that comes before it in the same commit, whose keys are"
        " compared; more are commits of their own, with 0 each upsert is",
    )
    ingest_upsert_joined_files: int = Field(
        1_000,
        ge=0,
        le=100_000,
        description="data and delete files of an upsert and of all that comes before it in the same commit,"
        " which are read to compare their keys; more are commits of their own",
    )
