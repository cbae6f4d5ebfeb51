"""Asks the driver's JVM about the tables of Spark's own catalog, and about scans of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from service.model.query.scan_metrics import ScanRecord, Selection
from service.model.tables.tables import TableName
from spark_session.java.own_classes import java_instance
from spark_session.results.file_scans import file_scan_records
from spark_session.settings.parquet_tables import ParquetTables
from spark_session.settings.settings import SparkSettings

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

CATALOG = "spark_catalog"
# For totals of a metastore's table; tables whose folders are listed for each query report their own.
TOTALS_MAX_AGE_MS = 30_000


class SessionTableReader:
    """Asks `SessionTables.java`, which is not made if the operator has no such tables."""

    def __init__(self, gateway: JavaGateway, root: SparkSession, settings: SparkSettings) -> None:
        self._gateway = gateway
        self._root = root
        self._has_tables = settings.has_session_tables
        self._declared = settings.parquet_tables

    def check(self) -> None:
        """Checks that the catalog answers."""
        self._java.check(self._root._jsparkSession)

    def tables(self) -> str:
        """Returns all tables, in the JSON of `SessionTables.java`."""
        return str(self._java.tables(self._root._jsparkSession))

    def table(self, name: TableName, max_age_ms: int, max_partitions: int) -> str:
        """Returns one table, in the JSON of `SessionTables.java`, with a listing at most `max_age_ms` old."""
        session = self._root._jsparkSession
        return str(self._java.table(session, name.schema, name.table, max_age_ms, max_partitions))

    def scans(self, frame: DataFrame, has_run: bool) -> tuple[ScanRecord, ...]:
        """Returns the scans of such tables in a frame that was planned, or has run."""
        if not self._has_tables:
            return ()
        execution = frame._jdf.queryExecution()
        rows = self._java.scans(self._root._jsparkSession, execution, TOTALS_MAX_AGE_MS)
        return file_scan_records(rows, has_run)

    def with_total(self, scan: ScanRecord) -> ScanRecord:
        """Adds the number of partitions to a skipped scan of such a table; any other stays as it is."""
        name = TableName.of(scan.table)
        if not self._has_tables or name.catalog != CATALOG or scan.metrics.data_files.total == 0:
            return scan
        reported = json.loads(self.table(name, TOTALS_MAX_AGE_MS, 0))
        listing = None if reported is None else reported["listing"]
        partitions = Selection(0 if listing is None else listing[0], 0)
        return replace(scan, metrics=replace(scan.metrics, partitions=partitions))

    def register(self) -> None:
        """Registers the declared tables that are missing; unreadable ones are tried again later."""
        if self._declared:
            self._parquet_tables.register()

    @cached_property
    def _parquet_tables(self) -> ParquetTables:
        return ParquetTables(self._root, self._java, self._declared)

    @cached_property
    def _java(self) -> JavaObject:
        return java_instance(self._gateway, "sluice.scans.SessionTables")
