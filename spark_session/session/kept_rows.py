"""Rows that queries have made of those of small tables, kept in the JVM for later queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from service.model.operations.usage import CacheUse
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject


class KeptRows:
    """The cache of one JVM; see `RelationCache.java`. With 0 bytes, or on a cluster, nothing is kept."""

    def __init__(self, gateway: JavaGateway, root: SparkSession, max_bytes: int) -> None:
        self._java = java_instance(gateway, "sluice.relations.RelationCache")
        self._java.open(root._jsparkSession, max_bytes)
        self._max_bytes = max_bytes if self._java.isOpen() else 0
        self._latest = CacheUse(0, 0, self._max_bytes, 0, 0, 0)

    @property
    def java(self) -> JavaObject:
        """The cache itself, for classes in the JVM."""
        return self._java

    @property
    def use(self) -> CacheUse:
        """Returns the use when `update` was called last. Returns at once: the JVM is not asked."""
        return self._latest

    def update(self) -> None:
        """Asks the JVM for the use; call it regularly.

        Raises:
            Py4JError, OSError: the JVM does not answer.
        """
        entries, byte_count, hits, misses, evictions = map(int, str(self._java.use()).split())
        self._latest = CacheUse(entries, byte_count, self._max_bytes, hits, misses, evictions)
