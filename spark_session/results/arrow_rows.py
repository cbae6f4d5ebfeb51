"""Reads a frame's rows as Arrow, like `toArrow()`, and also where that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame

from spark_session.results.arrow_arrays import in_schema
from spark_session.results.arrow_schema import arrow_schema
from spark_session.results.served_batches import served_batches

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject


def arrow_rows(frame: DataFrame, collector: JavaObject) -> pa.Table:
    """Runs the frame, every task of its last stage at once; `collector` is a `RowCollector.java`.

    Raises:
        PySparkException: it failed, or was canceled.
        QueryFailed: it ended without a report on how.
    """
    uses_large_types = frame.sparkSession._jconf.arrowUseLargeVarTypes()
    schema = arrow_schema(frame.schema, prefers_large_types=uses_large_types)
    return arrow_table(served_batches(frame._jdf, collector), schema)


def arrow_table(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Returns the batches as one table with this schema; a table without columns keeps its number of rows.

    >>> row_counts = [pa.table({"n": [1, 2]}).to_batches()[0].select([])] * 2
    >>> arrow_table(row_counts, pa.schema([])).num_rows
    4
    """
    return pa.Table.from_batches([in_schema(batch, schema) for batch in batches], schema)
