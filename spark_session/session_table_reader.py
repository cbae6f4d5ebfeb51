"""Asks the driver's JVM about the tables of Spark's own catalog, and about scans of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from service.model.pruning import ScanRecord
from service.model.tables import TableName
from spark_session.file_scans import file_scan_records
from spark_session.java_source import java_instance
from spark_session.parquet_tables import ParquetTables
from spark_session.settings import SparkSettings

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

# Totals of a metastore's table; of one whose folders are listed for each query, those are told.
TOTALS_KEPT_MS = 30_000


class SessionTableReader:
    """Asks `SessionTables.java`, which is not compiled where the operator has no such tables."""

    def __init__(self, gateway: JavaGateway, root: SparkSession, settings: SparkSettings) -> None:
        self._gateway = gateway
        self._root = root
        self._has_tables = settings.has_session_tables
        self._declared = settings.parquet_tables

    def check(self) -> None:
        """Returns when the catalog answers."""
        self._java.check(self._root._jsparkSession)

    def tables(self) -> str:
        """All tables, as `SessionTables.java` tells them."""
        return str(self._java.tables(self._root._jsparkSession))

    def table(self, name: TableName, kept_ms: int, max_partitions: int) -> str:
        """One table, as `SessionTables.java` tells it, with files that were listed so long ago at most."""
        session = self._root._jsparkSession
        return str(self._java.table(session, name.schema, name.table, kept_ms, max_partitions))

    def scans(self, frame: DataFrame) -> tuple[ScanRecord, ...]:
        """The scans of such tables in a frame that was planned, or has run."""
        if not self._has_tables:
            return ()
        execution = frame._jdf.queryExecution()
        return file_scan_records(self._java.scans(self._root._jsparkSession, execution, TOTALS_KEPT_MS))

    def register(self) -> None:
        """Registers the declared tables that are not there yet; what cannot be read is tried again later."""
        if self._declared:
            self._parquet_tables.register()

    @cached_property
    def _parquet_tables(self) -> ParquetTables:
        return ParquetTables(self._root, self._java, self._declared)

    @cached_property
    def _java(self) -> JavaObject:
        return java_instance(self._gateway, "SessionTables", uses="PartitionValues")
