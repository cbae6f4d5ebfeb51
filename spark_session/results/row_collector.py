"""From a planned frame to its rows as Arrow: few in one message, many over a socket of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame

from spark_session.java.java_source import java_instance
from spark_session.results.arrow_rows import arrow_rows, arrow_table
from spark_session.results.arrow_schema import arrow_schema

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

# Above, collecting in parallel pays more than stopping early, and rows as objects take much of the heap.
MAX_INCREMENTAL_ROWS = 20_000
# Up to here rows as objects weigh nothing.
FEW_ROWS = 1_000
# py4j sends bytes as text, which is slower than a socket when they are many.
MAX_MESSAGE_BYTES = 4 << 20
# What PySpark says of timestamps in Arrow; the session's time zone is for rendering.
ARROW_TIME_ZONE = "UTC"


class RowCollector:
    """Asks `RowCollector.java` in the driver's JVM which way suits a frame."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "RowCollector")

    def limited(self, frame: DataFrame, rows: int) -> DataFrame:
        """The frame with at most that many rows; as it is, when it has no more: a limit is analysed anew.

        One of values alone, as `SELECT 1`, becomes one that the driver answers without a task.
        """
        within = self._java.limited(frame._jdf, rows)
        return frame.limit(rows) if within is None else DataFrame(within, frame.sparkSession)

    def is_short(self, frame: DataFrame, row_limit: int) -> bool:
        """Plans the frame; whether Spark's plain collect suits it.

        Arrow's way runs every task of a scan even if the first few fill the limit; a plain collect takes a
        few at a time until it has enough. It plans whatever suits it, so that what fails at that fails here.

        Raises:
            PySparkException: Spark cannot plan it.
        """
        return bool(self._java.isShort(frame._jdf, FEW_ROWS)) and row_limit <= MAX_INCREMENTAL_ROWS

    def objects(self, frame: DataFrame) -> JavaObject:
        """Runs the frame; its rows as Spark has them, an array that stays in the JVM.

        Raises:
            PySparkException: it failed, or was canceled.
        """
        rows: JavaObject = self._java.collect(frame._jdf)
        return rows

    def collect(self, frame: DataFrame, is_short: bool) -> pa.Table:
        """Runs the frame.

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
