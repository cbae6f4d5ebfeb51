"""Asks the Iceberg library in Spark's JVM for snapshots, also with deletes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from service.model.ingest.writing import RowDelta
from spark_session.java.own_classes import java_instance
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject
    from pyspark.sql import SparkSession


class RowDeltaWriter:
    """Asks `RowDeltas.java` of one JVM."""

    def __init__(self, gateway: JavaGateway, root: SparkSession) -> None:
        self._gateway = gateway
        self._root = root

    def prepare(self, delta: RowDelta) -> str:
        """Returns the answer of `RowDeltas.java`."""
        return str(
            self._java.prepare(
                self._root._jsparkSession,
                table_sql_name(delta.key.table),
                delta.metadata_location,
                delta.key.branch,
                list(delta.data_files),
                list(delta.delete_files),
                list(delta.replaced_files),
                dict(delta.summary),
            )
        )

    @cached_property
    def _java(self) -> JavaObject:
        # Not made unless a caller upserts.
        return java_instance(self._gateway, "sluice.tables.RowDeltas")
