"""Bounds on what executors read: files that callers name, and large bodies."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator

from api.bootstrap.settings.value_types import GIB, KIB, MIB, Words
from service.model.ingest.source_uris import SourceUri


class SourceSettings(BaseModel):
    """Bounds on what executors read: files that callers name, and large bodies."""

    ingest_source_prefixes: Words = Field(
        (),
        description="folders whose files callers may ingest, such as s3://bucket/inbox; none: no sources",
    )
    ingest_source_properties: dict[str, str] = Field(
        {},
        repr=False,
        description="how sources are reached: properties of PyIceberg's FileIO, beside the environment",
    )
    ingest_source_max_files: int = Field(
        10_000, ge=1, le=1_000_000, description="maximum number of files of one source"
    )
    ingest_source_max_bytes: int = Field(
        1024 * GIB, ge=KIB, le=2**60, description="maximum size of one source, and of one decompressed file"
    )
    ingest_source_listing_timeout_s: int = Field(
        300, ge=1, le=86_400, description="how long listing the files of one source may take"
    )
    ingest_split_bytes: int = Field(
        128 * MIB, ge=MIB, le=64 * GIB, description="minimum bytes of an input that one Spark task reads"
    )
    ingest_executed_body_bytes: int = Field(
        256 * MIB,
        ge=KIB,
        le=2**60,
        description="bodies of NDJSON, CSV and Parquet of this size are written by Spark's executors",
    )

    @field_validator("ingest_source_prefixes")
    @classmethod
    def _prefixes_are_folders(cls, prefixes: tuple[str, ...]) -> tuple[str, ...]:
        for prefix in prefixes:
            folder = SourceUri.parse(prefix)
            if folder.fixed != folder.segments:
                raise ValueError(f"{prefix} has globs; a prefix is a folder")
        return prefixes
