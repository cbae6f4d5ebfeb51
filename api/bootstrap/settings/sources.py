"""What executors read of files that callers name, and of large bodies."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator

from api.bootstrap.settings.kinds import GIB, KIB, MIB, Words
from service.model.ingest.source_uris import SourceUri


class SourceSettings(BaseModel):
    """What executors read of files that callers name, and of large bodies."""

    ingest_source_prefixes: Words = Field(
        (),
        description="folders whose files callers may have read, such as s3://bucket/inbox; none: no sources",
    )
    ingest_source_properties: dict[str, str] = Field(
        {},
        repr=False,
        description="how sources are reached: properties of PyIceberg's FileIO, beside the environment",
    )
    ingest_source_max_files: int = Field(
        10_000, ge=1, le=1_000_000, description="files of one source at most"
    )
    ingest_source_max_bytes: int = Field(
        1024 * GIB, ge=KIB, le=2**60, description="bytes of one source at most; of one file, decompressed"
    )
    ingest_source_listing_timeout_s: int = Field(
        300, ge=1, le=86_400, description="how long the files of one source may be looked for"
    )
    ingest_split_bytes: int = Field(
        128 * MIB, ge=MIB, le=64 * GIB, description="how much of an input one task of Spark reads at least"
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
        for each in prefixes:
            folder = SourceUri.parse(each)
            if folder.fixed != folder.segments:
                raise ValueError(f"{each} has globs; a prefix is a folder")
        return prefixes
