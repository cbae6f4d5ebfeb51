"""Asks the driver's JVM what a catalog has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class CatalogContents:
    """Asks `CatalogContents.java`. PySparkException or Py4JError: a catalog does not answer."""

    def __init__(self, gateway: JavaGateway, root: SparkSession) -> None:
        self._java = java_instance(gateway, "sluice.sessions.CatalogContents")
        self._root = root

    def schemas(self, catalog: str, limit: int) -> Sequence[tuple[Sequence[str], str | None]]:
        """Returns the levels and the comment of each schema."""
        found = json.loads(self._java.schemas(self._root._jsparkSession, catalog, limit))
        return [(tuple(levels), comment) for levels, comment in found]

    def views(self, catalog: str, schema: str, limit: int) -> Sequence[str]:
        """Returns the names of the views of a schema."""
        names: Sequence[str] = json.loads(self._java.views(self._root._jsparkSession, catalog, schema, limit))
        return names
