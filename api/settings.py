"""Everything that an operator can set, by `SLUICE_…` variables or a YAML file."""

from __future__ import annotations

import ipaddress
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from service.model.maintenance import MaintenanceOperation
from service.model.rewrites import RewriteKind
from service.model.source_uris import SourceUri

KIB, MIB, GIB = 1024, 1024**2, 1024**3
CONFIG_FILE = "SLUICE_CONFIG_FILE"

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$")]
Sha256Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$", to_lower=True)]


TableOfSchema = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$")
]
ColumnType = Annotated[
    str,
    StringConstraints(
        # Spark reads decimals in the names of folders wrongly.
        pattern=r"^(?i:STRING|BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|DATE|TIMESTAMP)$",
        to_upper=True,
    ),
]


class ParquetFolder(BaseModel):
    """A folder of Parquet files, and the types of the columns that its folders are named by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    location: str = Field(min_length=1, max_length=4096)
    partition_columns: dict[Name, ColumnType] = {}


def _words(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return orjson.loads(value)
    return [each.strip() for each in value.split(",") if each.strip()]


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)]
"""A list; in the environment as JSON or separated by commas."""


class LogLevel(StrEnum):
    """From which level on lines are written."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogFormat(StrEnum):
    """One JSON object a line, or lines for people."""

    JSON = "json"
    CONSOLE = "console"


class Settings(BaseSettings):
    """Read them with `load_settings`, which also refuses names that do not exist."""

    model_config = SettingsConfigDict(
        env_prefix="SLUICE_", extra="forbid", frozen=True, hide_input_in_errors=True, validate_default=True
    )

    host: str = Field("127.0.0.1", description="address to listen on", min_length=1)
    port: int = Field(8080, ge=0, le=65535, description="port to listen on; 0 takes any free one")
    data_dir: Path = Field(Path(".sluice"), description="where the embedded parts keep their data")
    log_level: LogLevel = Field(LogLevel.INFO, description="from which level on lines are written")
    log_format: LogFormat = Field(LogFormat.JSON, description="json, or console for people")
    api_tokens: dict[Name, Sha256Hex] = Field(
        {}, repr=False, description="caller to SHA-256 (hex) of the bearer token; empty: all are `anonymous`"
    )
    allow_unauthenticated: bool = Field(
        False,
        description="without api_tokens: listen beyond loopback, and answer to any name in `Host`",
    )

    metrics_store_url: SecretStr | None = Field(None, description="PostgreSQL; unset: the embedded one")
    metrics_retention_days: int = Field(30, ge=1, le=3650, description="how long query records are kept")
    metrics_buffer_records: int = Field(
        10_000, ge=1, le=1_000_000, description="records that wait while the metrics store is down"
    )
    filter_cache_url: SecretStr | None = Field(None, description="Redis protocol; unset: the embedded one")
    filter_cache_max_bytes: int = Field(
        256 * MIB, ge=MIB, le=1024 * GIB, description="memory of the embedded filter cache"
    )
    filter_cache_ttl_s: int = Field(
        86_400, ge=1, le=31_536_000, description="how long a filter's keys are cached"
    )
    filter_cache_value_bytes: int = Field(
        16 * MIB, ge=KIB, le=512 * MIB, description="keys of one filter, as they are cached; more are not"
    )
    filter_cache_local_bytes: int = Field(
        64 * MIB, ge=0, le=64 * GIB, description="memory of each gateway for the keys it used last"
    )

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

    spark_master: str = Field("local[*]", min_length=1, description="local[…], spark://, k8s:// or yarn")
    spark_driver_memory: str = Field(
        "2g", pattern=r"^[1-9][0-9]{0,6}[kmgtKMGT]$", description="heap of the driver's JVM"
    )
    spark_packages: Words = Field(
        (
            "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
            "org.postgresql:postgresql:42.7.8",
        ),
        description="Maven coordinates that Spark resolves; Iceberg's bundle for S3 comes by itself",
    )
    spark_jars: Words = Field((), description="paths of jars; when given, spark_packages are not resolved")
    spark_conf: dict[str, str] = Field({}, repr=False, description="further properties of Spark")
    session_time_zone: str = Field(
        "UTC", min_length=1, max_length=64, description="time zone of every session"
    )

    query_workers: int = Field(
        default_factory=lambda: max(4, 2 * (os.cpu_count() or 1)),
        ge=1,
        le=1024,
        description="queries that run at the same time",
    )
    max_queued_queries: int = Field(1000, ge=0, le=1_000_000, description="queries that wait before a 429")
    engine_retries: int = Field(1, ge=0, le=3, description="how often a query runs again if its engine dies")
    query_timeout_s: int = Field(300, ge=1, le=86_400, description="timeout of queries that set none")
    max_query_timeout_s: int = Field(3600, ge=1, le=86_400, description="the most that a query may set")
    row_limit: int = Field(10_000, ge=1, le=1_000_000_000, description="row limit of queries that set none")
    max_row_limit: int = Field(1_000_000, ge=1, le=1_000_000_000, description="the most that one may set")
    byte_limit: int = Field(100 * MIB, ge=KIB, le=64 * GIB, description="byte limit of queries that set none")
    max_byte_limit: int = Field(GIB, ge=KIB, le=64 * GIB, description="the most that a query may set")
    max_sql_bytes: int = Field(
        256 * KIB,
        ge=KIB,
        le=64 * MIB,
        description="size of an SQL text in UTF-8; reading one holds up others",
    )
    max_body_bytes: int = Field(4 * MIB, ge=KIB, le=256 * MIB, description="size of a request's body")
    body_idle_timeout_s: int = Field(
        30, ge=1, le=3600, description="how long a request's body may stand still on its way before a 408"
    )
    body_min_bytes_per_s: int = Field(
        16 * KIB, ge=0, le=GIB, description="what a body must bring a second beyond that; 0: no matter"
    )
    max_parameters: int = Field(1000, ge=0, le=100_000, description="parameters of one query")
    result_ttl_s: int = Field(600, ge=1, le=86_400, description="how long a result can be read")
    result_max_bytes: int = Field(
        2 * GIB, ge=MIB, le=1024 * GIB, description="disk space of all results together; the oldest make room"
    )
    chunk_rows: int = Field(10_000, ge=1, le=1_000_000, description="rows of a chunk at most")
    chunk_bytes: int = Field(8 * MIB, ge=KIB, le=GIB, description="bytes of a chunk in Arrow at most")
    dynamic_filtering_enabled: bool = Field(True, description="narrow scans by the keys that they join")
    dynamic_filtering_max_filter_bytes: int = Field(
        32 * MIB, ge=KIB, le=GIB, description="keys of one filter in Arrow at most"
    )
    dynamic_filtering_collect_timeout_s: int = Field(
        10, ge=1, le=600, description="how long a query waits for its filters"
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
        description="files whose values are looked up; a table with more has bounds",
    )
    dynamic_filtering_listing_max_bytes: int = Field(
        64 * MIB, ge=0, le=64 * GIB, description="memory for what files hold"
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
    ingest_tables: tuple[str, ...] = Field(
        ("*",), description="full names of the tables that callers may write to, `*` for any part; none: `[]`"
    )
    ingest_created_tables: tuple[str, ...] = Field(
        ("*",), description="of these, the ones that callers may make if they are missing; none: `[]`"
    )
    ingest_evolved_tables: tuple[str, ...] = Field(
        ("*",), description="of these, the ones whose schema callers may evolve; none: `[]`"
    )
    ingest_max_fields: int = Field(
        10_000, ge=1, le=1_000_000, description="fields, nested ones too, that callers may bring a table to"
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
    ingest_parallel_commits: int = Field(
        4, ge=1, le=64, description="tables and branches that are committed to at once"
    )
    ingest_buffered_bytes: int = Field(
        64 * MIB,
        ge=MIB,
        le=16 * GIB,
        description="rows in memory before they are written; an ingest takes about three times that",
    )
    ingest_open_files: int = Field(
        16, ge=1, le=1000, description="data files that an ingest has open at once"
    )
    ingest_max_files: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="data files of one write schema in an ingest, or in one task of Spark; more are refused",
    )
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
    ingest_split_bytes: int = Field(
        128 * MIB, ge=MIB, le=64 * GIB, description="how much of an input one task of Spark reads at least"
    )
    ingest_executed_body_bytes: int = Field(
        256 * MIB,
        ge=KIB,
        le=2**60,
        description="bodies of NDJSON, CSV and Parquet of this size are written by Spark's executors",
    )
    stream_max_running: int = Field(
        20, ge=0, le=1000, description="streams that run at once, of all replicas together"
    )
    stream_checkpoints: str | None = Field(
        None,
        min_length=1,
        max_length=4096,
        description="address where Spark keeps what streams have read; all replicas must see it;"
        " unset: in data_dir",
    )
    stream_kafka_servers: Words = Field(
        (),
        description="bootstrap servers, host:port, that streams may read from; with them Spark's connector is"
        " fetched; none: no Kafka",
    )
    stream_kafka_topics: Words = Field(
        ("*",), description="of these, the topics that streams may read, `*` for any part"
    )
    stream_kafka_options: dict[str, str] = Field(
        {}, repr=False, description="further options of Spark's Kafka source, such as kafka.security.protocol"
    )
    ingest_max_body_bytes: int = Field(
        4 * GIB, ge=KIB, le=1024 * GIB, description="size of a body of records alone, as it is sent"
    )
    ingest_max_decompressed_bytes: int = Field(
        64 * GIB, ge=KIB, le=16 * 1024 * GIB, description="what such a body may have in it when it is read"
    )
    ingest_max_batch_bytes: int = Field(
        512 * MIB,
        ge=MIB,
        le=64 * GIB,
        description="what a batch of Arrow, or the pages of Parquet that are open, may unfold to in memory",
    )
    ingest_max_spooled_bytes: int = Field(
        16 * GIB, ge=KIB, le=16 * 1024 * GIB, description="disk space of such bodies together before a 429"
    )
    ingest_max_held_bytes: int = Field(
        64 * MIB, ge=KIB, le=64 * GIB, description="bodies of JSON together before a 429; in memory"
    )
    ingest_parallel_bodies: int = Field(
        4, ge=1, le=256, description="bodies of records alone that are written at once; others wait"
    )
    ingest_max_waiting: int = Field(
        10_000, ge=1, le=1_000_000, description="ingests that wait to be committed before a 429"
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
    maintenance_interval_s: int = Field(
        3600,
        ge=0,
        le=31_536_000,
        description="how long after an upsert its table is maintained, and how often at most; 0: never",
    )
    maintenance_operations: tuple[MaintenanceOperation, ...] = Field(
        (MaintenanceOperation.COMPACT,), description="what is done then"
    )
    maintenance_snapshot_age_h: int = Field(
        120, ge=0, le=87_600, description="hours that snapshots stay, where maintenance forgets them"
    )
    maintenance_snapshots_kept: int = Field(
        1, ge=1, le=100_000, description="snapshots that stay, however old they are"
    )
    maintenance_orphan_age_h: int = Field(
        72, ge=24, le=87_600, description="hours that files stay which no snapshot has"
    )
    shutdown_timeout_s: int = Field(30, ge=0, le=3600, description="how long a stop waits for queries")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then the file that `SLUICE_CONFIG_FILE` names."""
        path = os.environ.get(CONFIG_FILE)
        file = (YamlConfigSettingsSource(settings_cls, Path(path)),) if path else ()
        return (init_settings, env_settings, *file)

    @model_validator(mode="after")
    def _is_closed_to_strangers(self) -> Self:
        if self.api_tokens or self.allow_unauthenticated or is_loopback(self.host):
            return self
        raise ValueError(
            f"host {self.host} can be reached from other machines: set api_tokens, or allow_unauthenticated"
            " to let everyone in"
        )

    @model_validator(mode="after")
    def _defaults_are_within_their_maximum(self) -> Self:
        pairs = [("query_timeout_s", "max_query_timeout_s"), ("row_limit", "max_row_limit")]
        for name, maximum in [*pairs, ("byte_limit", "max_byte_limit")]:
            if getattr(self, name) > getattr(self, maximum):
                raise ValueError(f"{name} is larger than {maximum}")
        return self

    @model_validator(mode="after")
    def _one_ingest_is_always_taken(self) -> Self:
        bounds = [("ingest_max_body_bytes", "ingest_max_spooled_bytes")]
        for name, maximum in [*bounds, ("max_body_bytes", "ingest_max_held_bytes")]:
            if getattr(self, name) > getattr(self, maximum):
                raise ValueError(f"{name} is larger than {maximum}")
        return self

    @model_validator(mode="after")
    def _metastores_are_only_read(self) -> Self:
        if self.parquet_tables and self.spark_conf.get("spark.sql.catalogImplementation") == "hive":
            raise ValueError("parquet_tables would be written into the Hive metastore: create them there")
        return self

    @field_validator("ingest_source_prefixes")
    @classmethod
    def _prefixes_are_folders(cls, prefixes: tuple[str, ...]) -> tuple[str, ...]:
        for each in prefixes:
            folder = SourceUri.parse(each)
            if folder.fixed != folder.segments:
                raise ValueError(f"{each} has globs; a prefix is a folder")
        return prefixes

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        if self.default_catalog not in (self.catalogs or {"lake": {}}):
            raise ValueError(f"default_catalog {self.default_catalog} is not among the catalogs")
        if len(set(self.api_tokens.values())) < len(self.api_tokens):
            raise ValueError("api_tokens gives two callers the same token")
        return self


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
