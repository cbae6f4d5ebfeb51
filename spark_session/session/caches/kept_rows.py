"""Rows that queries have made of those of small tables, kept in the JVM for later queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_session.java.jvm_cache import JvmCache
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class KeptRows(JvmCache):
    """The cache of one JVM; see `RelationCache.java`. With 0 bytes, or on a cluster, nothing is kept."""

    def __init__(self, gateway: JavaGateway, root: SparkSession, max_bytes: int) -> None:
        java = java_instance(gateway, "sluice.relations.RelationCache")
        java.open(root._jsparkSession, max_bytes)
        super().__init__(java, max_bytes if java.isOpen() else 0)
