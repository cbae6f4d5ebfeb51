"""Builds what the warm session and its supervision are set to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from api.bootstrap.parts.build_admission import pools_file
from api.bootstrap.parts.find_jars import engine_jars
from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.resource_groups import resource_groups
from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.adapters.catalogs.spark_file_cache import FileCacheBounds, with_file_cache
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.jars.compiled_classes import compiled_classes
from spark_session.settings.parquet_tables import ParquetTable
from spark_session.settings.settings import SparkSettings
from spark_session.supervision.verdict import EngineBounds

_log = structlog.get_logger(__name__)


def build_spark_settings(
    settings: Settings,
    catalogs: Mapping[str, Mapping[str, str]],
    jars_folder: Path,
    folder: Callable[[str], Path],
) -> SparkSettings:
    """Returns the settings of the warm session, after its jars have been found or fetched.

    `catalogs` are the properties of each; `folder` makes a folder of this gateway by its name.

    Raises:
        CannotStart: a catalog's properties, a folder or a jar are not possible.
    """
    properties: dict[str, str] = {}
    for name, catalog in catalogs.items():
        spark = spark_catalog_properties(name, catalog)
        bounds = _file_cache_bounds(settings)
        properties |= with_file_cache(
            name, catalog, spark, bounds, settings.spark_conf, has_comet=settings.comet
        )
    groups = resource_groups(settings.resource_groups)
    return SparkSettings(
        master=settings.spark_master,
        jars=tuple(map(str, _jars(settings, catalogs, jars_folder))),
        log_dir=folder("logs"),
        catalogs=properties,
        catalog_names=tuple(catalogs),
        default_catalog=settings.default_catalog,
        driver_memory=settings.spark_driver_memory,
        time_zone=settings.session_time_zone,
        max_result_bytes=settings.max_byte_limit,
        max_relation_bytes=settings.local_relations_max_bytes,
        max_hash_relation_bytes=settings.hash_relations_max_bytes,
        max_manifest_entry_bytes=settings.manifest_entries_max_bytes,
        max_tuple_bytes=settings.dynamic_filtering_tuples_max_bytes,
        max_kept_plan_bytes=settings.kept_plans_max_bytes,
        max_row_group_count_bytes=settings.row_group_counts_max_bytes,
        leaves_out_noted_files=settings.row_group_file_pruning,
        planned_once_max_bytes=settings.planned_once_max_bytes,
        bounds=_query_bounds(settings),
        properties=_session_catalog_properties(settings, folder) | settings.spark_conf,
        parquet_tables={
            name: ParquetTable(table.location, table.partition_columns)
            for name, table in settings.parquet_tables.items()
        },
        pools_file=pools_file(settings, folder("logs")),
        counts_cpu=groups is not None and groups.counts_cpu,
        takes_late_filters=settings.dynamic_filtering_late_filters,
        comet_memory=settings.comet_memory if settings.comet else None,
    )


def build_engine_bounds(settings: Settings) -> EngineBounds:
    """Returns when the engine counts as unresponsive, and is replaced."""
    return EngineBounds(
        probe_interval_s=settings.engine_probe_interval_s,
        probe_timeout_s=settings.engine_probe_timeout_s,
        unresponsive_s=settings.engine_unresponsive_s,
        grace_s=settings.engine_grace_s,
        max_given_up=settings.engine_max_given_up,
        given_up_timeout_s=settings.engine_given_up_timeout_s,
        quarantine_s=settings.engine_quarantine_s,
        max_collection_percent=settings.engine_max_collection_percent,
        collection_window_s=settings.engine_collection_window_s,
    )


def _file_cache_bounds(settings: Settings) -> FileCacheBounds:
    return FileCacheBounds(
        max_bytes=settings.file_cache_max_bytes,
        max_metadata_file_bytes=settings.file_cache_max_metadata_file_bytes,
        max_data_file_bytes=settings.file_cache_max_data_file_bytes,
    )


def _query_bounds(settings: Settings) -> QueryBounds:
    return QueryBounds(
        value_bytes=settings.max_value_bytes,
        row_copies=settings.max_row_copies,
        partitions=settings.max_partitions,
        tasks=settings.max_query_tasks,
        view_depth=settings.max_view_depth,
        batch_rows=settings.max_read_batch_rows,
        min_split_bytes=settings.min_read_split_bytes,
    )


def _jars(
    settings: Settings, catalogs: Mapping[str, Mapping[str, str]], jars_folder: Path
) -> tuple[Path, ...]:
    _log.info("starting", step="Resolving Spark's jars")
    jars = engine_jars(
        settings,
        catalogs.values(),
        jars_folder,
        is_reading_kafka=bool(settings.stream_kafka_servers),
    )
    return (*jars, compiled_classes(jars, jars_folder))


def _session_catalog_properties(settings: Settings, folder: Callable[[str], Path]) -> dict[str, str]:
    """Spark creates a folder for each schema of its own catalog, though the gateway has no tables there."""
    if not settings.parquet_tables:
        return {}
    return {"spark.sql.warehouse.dir": folder("spark-warehouse").as_uri()}
