"""Reads Arrow batches that Spark's driver serves on a socket of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import unwrap_spark_exception
from pyspark.sql.pandas.serializers import ArrowCollectSerializer
from pyspark.util import _load_from_socket

from service.errors.query_errors import QueryFailed

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

# Counted from the end of the stream; by then, the run only has to report its end.
LAST_WORD_WITHIN_S = 10


def served_batches(
    dataset: JavaObject, collector: JavaObject, last_word_within_s: int = LAST_WORD_WITHIN_S
) -> list[pa.RecordBatch]:
    """Runs the dataset, all tasks of its last stage at once; returns its batches in order.

    `collector` is a `RowCollector.java`.

    PySpark's own `_collect_as_arrow` waits without a limit for the report of how the run ended. That report
    never comes if the serving thread has run out of stack, which the optimizer's deep plans can cause. Such a
    query would keep a thread of the gateway for ever.

    Raises:
        PySparkException: it failed, or was canceled.
        QueryFailed: it ended without a report on how.
    """
    port, secret, server = dataset.collectAsArrowToPython()
    batches: list[pa.RecordBatch] = []
    order: list[int] = []
    stream_failure: Exception | None = None
    try:
        # PySpark calls it this way itself, whatever its types say.
        *batches, order = _load_from_socket((port, secret), ArrowCollectSerializer())  # type: ignore[arg-type]
    except (PySparkException, EOFError, OSError, pa.ArrowException) as failure:
        # The JVM's error is more precise than this one.
        stream_failure = failure
    with unwrap_spark_exception():
        has_ended = collector.hasEnded(server, last_word_within_s)
    if not has_ended:
        raise QueryFailed(
            "The engine gave this query up and does not say why: it may be too deep for its stack."
        ) from stream_failure
    if stream_failure is not None:
        raise stream_failure
    return [batches[index] for index in order]
