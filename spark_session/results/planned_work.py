"""Reads from a plan how much it will read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from service.model.query.planned_work import PlannedWork
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)

UNKNOWN = PlannedWork(0, is_bounded=False)


class PlannedWorkReader:
    """Asks `PlannedWork.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.engine.PlannedWork")

    def read(self, frame: DataFrame) -> PlannedWork:
        """Returns what a planned frame will read; if that is not known, it counts as much."""
        try:
            selected_bytes, is_bounded = self._java.of(frame._jdf).split()
        except (PySparkException, Py4JError) as failure:
            # A lost JVM shows in the next call.
            log.warning("planned_work_not_read", error=type(failure).__name__)
            return UNKNOWN
        return PlannedWork(int(selected_bytes), is_bounded == "1")
