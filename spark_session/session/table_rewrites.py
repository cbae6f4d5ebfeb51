"""Asks the Iceberg library in Spark's JVM to rewrite a table's files, and about its deletes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import CompactionWidth
from spark_session.java.own_classes import java_instance
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject
    from pyspark.sql import SparkSession


class TableDeletes:
    """Asks `TableDeletes.java` of one JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway

    def has_other_specs(self, session: SparkSession, key: TableKey) -> bool:
        """Whether the branch holds files of an earlier partition spec."""
        name = table_sql_name(key.table)
        return bool(self._java.hasOtherSpecs(session._jsparkSession, name, key.branch))

    def remove_dangling(self, session: SparkSession, key: TableKey) -> int:
        """Removes delete files that apply to nothing, and returns how many there were."""
        name = table_sql_name(key.table)
        return int(self._java.removeDangling(session._jsparkSession, name, key.branch))

    def snapshots(self, session: SparkSession, key: TableKey) -> str:
        """Returns the table's current snapshots, for `replaced_since`."""
        return str(self._java.snapshots(session._jsparkSession, table_sql_name(key.table)))

    def replaced_since(self, session: SparkSession, key: TableKey, before: str) -> Mapping[str, int]:
        """Returns what later snapshots have replaced in the branch, by the names in their summaries."""
        name = table_sql_name(key.table)
        found = self._java.replacedSince(session._jsparkSession, name, key.branch, before)
        return {str(label): int(found[label]) for label in found}

    @cached_property
    def _java(self) -> JavaObject:
        return java_instance(self._gateway, "sluice.tables.TableDeletes")


class Compaction:
    """Asks `Compaction.java`, or `ProjectedCompaction.java`, of one JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway

    def rewrite(
        self, session: SparkSession, key: TableKey, options: Mapping[str, str], width: CompactionWidth
    ) -> Mapping[str, int]:
        """Rewrites the branch's data files, unless the table gets another partition spec in the meantime."""
        name = table_sql_name(key.table)
        java = self._projected if width is CompactionWidth.WRITE_SCHEMA else self._whole
        found = java.rewrite(session._jsparkSession, name, key.branch, dict(options))
        return {str(label): int(found[label]) for label in found}

    @cached_property
    def _whole(self) -> JavaObject:
        return java_instance(self._gateway, "sluice.tables.Compaction")

    @cached_property
    def _projected(self) -> JavaObject:
        return java_instance(self._gateway, "sluice.tables.ProjectedCompaction")
