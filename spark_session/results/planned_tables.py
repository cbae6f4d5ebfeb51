"""Finds the tables that a query's plan still reads from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


class PlannedTables:
    """Asks `PlannedTables.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.scans.PlannedTables")

    def read(self, frame: DataFrame) -> frozenset[str] | None:
        """Returns full names in lower case; None if the plan can no longer be read."""
        try:
            names = str(self._java.read(frame._jdf.queryExecution()))
        except (PySparkException, Py4JError, OSError, AttributeError) as failure:
            # The last one: another thread made PySpark forget the context in the meantime.
            log.warning("planned_tables_not_read", error=type(failure).__name__)
            return None
        return frozenset(names.lower().splitlines())
