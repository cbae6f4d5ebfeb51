"""The catalogs and tables that queries read."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, Field, model_validator

from api.bootstrap.settings.value_types import GIB, MIB, Name, ParquetFolder, TableOfSchema


class CatalogSettings(BaseModel):
    """The catalogs and tables that queries read."""

    catalogs: dict[Name, dict[str, str]] = Field(
        {}, repr=False, description="catalog to its PyIceberg properties; empty: the embedded `lake`"
    )
    embedded_catalog: bool = Field(
        False,
        description="serve the embedded `lake` beside `catalogs`; without `catalogs` it is served anyway",
    )
    catalog_cache_max_bytes: int = Field(
        128 * MIB, ge=0, le=64 * GIB, description="memory for tables' metadata; a new commit is seen at once"
    )
    file_cache_max_bytes: int = Field(
        0,
        ge=0,
        le=64 * GIB,
        description="memory of the engine's JVM, and of that of each executor, for small files and footers of"
        " tables, a quarter of its heap at most; 0: none is cached",
    )
    file_cache_max_metadata_file_bytes: int = Field(
        8 * MIB, ge=0, le=GIB, description="largest metadata file or manifest in that cache"
    )
    file_cache_max_data_file_bytes: int = Field(
        MIB,
        ge=0,
        le=GIB,
        description="largest data file, and largest footer, in that cache; such a file is read as a whole",
    )
    catalog_facts_timeout_s: float = Field(
        1.0,
        ge=0.1,
        le=60,
        description="how long a query waits for facts about its tables and views before it runs as written",
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
        has_lake = self.embedded_catalog or not self.catalogs
        if self.embedded_catalog and "lake" in self.catalogs:
            raise ValueError("embedded_catalog cannot be served: catalogs has a `lake` of its own")
        if self.default_catalog not in self.catalogs and not (has_lake and self.default_catalog == "lake"):
            cure = ", or set embedded_catalog to true" if self.default_catalog == "lake" else ""
            raise ValueError(
                f"default_catalog {self.default_catalog} is not one of the catalogs: name one of them{cure}"
            )
        return self
