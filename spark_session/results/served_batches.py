"""Arrow batches that Spark's driver serves on a socket of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import unwrap_spark_exception
from pyspark.sql.pandas.serializers import ArrowCollectSerializer
from pyspark.util import _load_from_socket

from service.errors import QueryFailed

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

# From the end of the stream on; what is done by then has nothing left to do but to say so.
LAST_WORD_WITHIN_S = 10


def served_batches(
    dataset: JavaObject, collector: JavaObject, last_word_within_s: int = LAST_WORD_WITHIN_S
) -> list[pa.RecordBatch]:
    """Runs the dataset, all tasks of its last stage at once; its batches in their order.

    `collector` is a `RowCollector.java`.

    PySpark's own `_collect_as_arrow` waits without end for how the run has ended. Nobody ever says it where
    the thread that serves the rows has run out of stack, as it may over a plan that the optimizer has made
    deep: a query like that would keep a thread of the gateway for ever.

    Raises:
        PySparkException: it failed, or was canceled.
        QueryFailed: it ended, and nobody said how.
    """
    port, secret, server = dataset.collectAsArrowToPython()
    batches: list[pa.RecordBatch] = []
    order: list[int] = []
    stream_failure: Exception | None = None
    try:
        # As PySpark calls it itself, whatever it says of its types.
        *batches, order = _load_from_socket((port, secret), ArrowCollectSerializer())  # type: ignore[arg-type]
    except (PySparkException, EOFError, OSError, pa.ArrowException) as failure:
        # Of the two the JVM knows better what it was.
        stream_failure = failure
    with unwrap_spark_exception():
        has_ended = collector.hasEnded(server, last_word_within_s)
    if not has_ended:
        raise QueryFailed(
            "The engine gave this query up and does not say why: it may be too deep for its stack."
        ) from stream_failure
    if stream_failure is not None:
        raise stream_failure
    return [batches[each] for each in order]
