"""Collects the rows of a planned frame as Arrow: few in one message, many over a socket of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame

from spark_session.java.own_classes import java_instance
from spark_session.results.arrow_rows import arrow_rows, arrow_table
from spark_session.results.arrow_schema import arrow_schema

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

# Above this, collecting in parallel gains more than stopping early, and rows as objects fill much of the
# heap.
MAX_INCREMENTAL_ROWS = 20_000
# Up to this number, rows as objects take little memory.
FEW_ROWS = 1_000
# py4j sends bytes as text, which is slower than a socket for large results.
MAX_MESSAGE_BYTES = 4 << 20
# The zone that PySpark gives timestamps in Arrow; the session's time zone is for rendering.
ARROW_TIME_ZONE = "UTC"


class RowCollector:
    """Asks `RowCollector.java` in the driver's JVM which way suits a frame."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.results.RowCollector")

    def limited(
        self, frame: DataFrame, rows: int, limit: Callable[[DataFrame, int], DataFrame] = DataFrame.limit
    ) -> DataFrame:
        """Returns the frame with at most `rows` rows, unchanged if it has no more: limits are analyzed again.

        A frame of literals alone, like `SELECT 1`, becomes one that the driver answers without a task.
        """
        within = self._java.limited(frame._jdf, rows)
        return limit(frame, rows) if within is None else DataFrame(within, frame.sparkSession)

    def is_short(self, frame: DataFrame, row_limit: int) -> bool:
        """Plans the frame; returns whether Spark's plain collect suits it.

        Arrow's way runs every task of a scan, even if the first few fill the limit; a plain collect runs a
        few at a time until it has enough rows. The frame is planned in either case, so that planning errors
        occur here.

        Raises:
            PySparkException: Spark cannot plan it.
        """
        return bool(self._java.isShort(frame._jdf, FEW_ROWS)) and row_limit <= MAX_INCREMENTAL_ROWS

    def objects(self, frame: DataFrame) -> JavaObject:
        """Runs the frame; returns its rows as Spark objects, an array that stays in the JVM.

        Raises:
            PySparkException: it failed, or was canceled.
        """
        rows: JavaObject = self._java.collect(frame._jdf)
        return rows

    def collect(self, frame: DataFrame, is_short: bool) -> pa.Table:
        """Runs the frame and returns its rows.

        Raises:
            PySparkException: it failed, or was canceled.
        """
        if not is_short:
            return arrow_rows(frame, self._java)
        rows = self.objects(frame)
        row_type = frame._jdf.schema()
        message = self._java.arrow(rows, row_type, ARROW_TIME_ZONE, MAX_MESSAGE_BYTES)
        if message is None:
            session = frame.sparkSession
            dataset = self._java.dataset(session._jsparkSession, rows, row_type)
            return arrow_rows(DataFrame(dataset, session), self._java)
        with pa.ipc.open_stream(message) as stream:
            return arrow_table(list(stream), arrow_schema(frame.schema))
