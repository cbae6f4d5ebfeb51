"""The tables that there are."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.settings.kinds import GIB, MIB, Name, ParquetFolder, TableOfSchema


class CatalogSettings(BaseModel):
    """The tables that there are."""

    catalogs: dict[Name, dict[str, str]] = Field(
        {}, repr=False, description="catalog to its PyIceberg properties; empty: the embedded `lake`"
    )
    catalog_cache_max_bytes: int = Field(
        128 * MIB, ge=0, le=64 * GIB, description="memory for tables' metadata; a new commit is seen at once"
    )
    parquet_tables: dict[TableOfSchema, ParquetFolder] = Field(
        {},
        description="table in `spark_catalog` to its folder: `location`, `partition_columns` with types",
    )
    default_catalog: Name = Field("lake", description="catalog of queries that name none")
    default_schema: str | None = Field(
        None, min_length=1, max_length=255, description="schema of queries that name none"
    )

    @model_validator(mode="after")
    def _the_default_catalog_is_there(self) -> Self:
        if self.default_catalog not in (self.catalogs or {"lake": {}}):
            raise ValueError(f"default_catalog {self.default_catalog} is not among the catalogs")
        return self
