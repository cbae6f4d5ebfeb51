"""Bounds on ingests in progress: their bodies, files and memory."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import GIB, KIB, MIB


class IngestRoomSettings(BaseModel):
    """Bounds on ingests in progress: their bodies, files and memory."""

    ingest_max_files: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="maximum number of data files of one write schema in an ingest or a Spark task; more are"
        " rejected",
    )
    ingest_max_body_bytes: int = Field(
        4 * GIB, ge=KIB, le=1024 * GIB, description="size of a body of records alone, as it is sent"
    )
    ingest_max_decompressed_bytes: int = Field(
        64 * GIB, ge=KIB, le=16 * 1024 * GIB, description="size of such a body once it is decompressed"
    )
    ingest_max_batch_bytes: int = Field(
        512 * MIB,
        ge=MIB,
        le=64 * GIB,
        description="size in memory of a batch of Arrow, or of the pages of Parquet that are open",
    )
    ingest_max_line_bytes: int = Field(
        8 * MIB,
        ge=KIB,
        le=GIB,
        description="a line of text, or a record of CSV, in bodies, sources and streams; reading one"
        " may take 30 times that in memory",
    )
    ingest_max_rest_bytes: int = Field(
        16 * MIB,
        ge=KIB,
        le=128 * MIB,
        description="the rest of one record, as JSON or a variant, in the column that `rest` names; a record"
        " with more does not fit",
    )
    ingest_max_spooled_bytes: int = Field(
        16 * GIB,
        ge=KIB,
        le=16 * 1024 * GIB,
        description="disk space of all such bodies, with what is decompressed there, before a 429",
    )
    ingest_parallel_bodies: int = Field(
        4,
        ge=1,
        le=256,
        description="bodies of records alone, and sources, of one caller that are written at once;"
        " others wait, and one more place is for other callers",
    )
    ingest_max_wait_s: int = Field(
        60,
        ge=1,
        le=3600,
        description="how long such an ingest, or one of JSON, waits to be written before a 429",
    )
    ingest_max_waiting: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="ingests that wait to be committed, of all replicas, before a 429",
    )
