"""Queries that read little are planned once, without adaptive execution."""

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


class SmallQueries:
    """Asks `SmallQueries.java` in the driver's JVM. With `max_bytes` 0, every query stays as it is."""

    def __init__(self, gateway: JavaGateway, max_bytes: int) -> None:
        self._java = java_instance(gateway, "sluice.engine.SmallQueries")
        self._max_bytes = max_bytes

    def plan_once(self, frame: DataFrame) -> None:
        """Optimizes the frame, and takes its session out of adaptive execution if it reads little.

        Call it before anything plans the frame. A query whose sizes cannot be read stays as it is.

        Raises:
            PySparkException: Spark cannot optimize it, or it was canceled.
        """
        if not self._max_bytes:
            return
        try:
            self._java.planOnce(frame._jdf, self._max_bytes)
        except PySparkException:
            raise
        except Py4JError as failure:
            # A lost JVM shows in the next call, which also says what it means.
            log.warning("sizes_not_read", error=type(failure).__name__)
