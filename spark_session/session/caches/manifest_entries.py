"""Decoded entries of manifests, kept in the JVM for the scans of later queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_session.java.jvm_cache import JvmCache
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class ManifestEntries(JvmCache):
    """The cache of one JVM; see `ManifestCache.java`. With 0 bytes, Iceberg plans every scan itself.

    `tuple_sets` are keys of several columns that scans compare with the entries; see `TupleSets.java`.
    """

    def __init__(
        self, gateway: JavaGateway, root: SparkSession, max_bytes: int, max_tuple_bytes: int
    ) -> None:
        java = java_instance(gateway, "sluice.manifests.ManifestCache")
        java.open(root._jsparkSession, max_bytes, max_tuple_bytes)
        super().__init__(java, max_bytes)
        self.tuple_sets = JvmCache(java.tuples(), max_tuple_bytes if max_bytes else 0)
