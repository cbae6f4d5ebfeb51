"""Folders of Parquet files, as tables of Spark's own catalog."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

log = structlog.get_logger(__name__)

RETRY_S = 10.0


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A folder; `partition_columns` has the types of its partition columns, all of them or none."""

    location: str
    partition_columns: Mapping[str, str] = field(default_factory=dict)


class ParquetTables:
    """Registers tables in a session; unreadable ones are tried again now and then."""

    def __init__(self, root: SparkSession, reader: JavaObject, tables: Mapping[str, ParquetTable]) -> None:
        self._reader = reader
        self._waiting = dict(tables)
        self._session = root.newSession()
        # Otherwise Spark would look for partitions in the catalog, where nothing enters them, and not for
        # folders.
        self._session.conf.set("spark.sql.hive.manageFilesourcePartitions", "false")
        self._tried_at = float("-inf")

    def register(self) -> None:
        """Registers the tables that are not registered yet."""
        if not self._waiting or time.monotonic() - self._tried_at < RETRY_S:
            return
        self._tried_at = time.monotonic()
        for name in tuple(self._waiting):
            try:
                self._create(name, self._waiting[name])
                del self._waiting[name]
            except (PySparkException, Py4JError, NotPartitionedSo) as failure:
                kind = type(failure).__name__
                log.warning("parquet_table_not_registered", table=name, error=kind, reason=str(failure))

    def _create(self, name: str, table: ParquetTable) -> None:
        schema, _, _ = name.partition(".")
        found = self._session.read.parquet(table.location)
        by_folders = list(self._reader.partitionColumns(found._jdf))
        columns = _columns(found, by_folders, table.partition_columns)
        self._session.sql(f"CREATE SCHEMA IF NOT EXISTS spark_catalog.{_quoted(schema)}")
        layout = ", ".join(map(_quoted, by_folders))
        partitioned = f" PARTITIONED BY ({layout})" if layout else ""
        self._session.sql(
            f"CREATE TABLE IF NOT EXISTS spark_catalog.{'.'.join(map(_quoted, name.split('.')))} ({columns})"
            f" USING parquet{partitioned} LOCATION {_text(table.location)}"
        )


class NotPartitionedSo(Exception):
    """The folders name other partition columns than the declared ones."""


def _columns(found: DataFrame, by_folders: Sequence[str], declared: Mapping[str, str]) -> str:
    types = {name.lower(): spark_type for name, spark_type in declared.items()}
    if types and types.keys() != {folder.lower() for folder in by_folders}:
        raise NotPartitionedSo(f"Its folders are named by {', '.join(by_folders) or 'no column'}.")
    return ", ".join(
        f"{_quoted(column.name())} {types.get(column.name().lower(), column.dataType().sql())}"
        for column in found._jdf.schema().fields()
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
