"""Runs the gateway's own functions on Spark's executors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import structlog
from pyspark import RDD, SparkContext
from pyspark.errors import PySparkException

from service.errors.gateway_error import PartDown
from service.errors.unavailable import EngineLost, EngineNotReady, ExecutorsFailed, StorageDown
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.python_workers import PYTHON
from spark_session.session.warm_session import WarmSession
from spark_session.streaming.topic_partitions import Place, of_part, order_in_part, part_of, placed_values

log = structlog.get_logger(__name__)

_INTERRUPTIONS = (
    "java.lang.InterruptedException",
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
    "SPARK_JOB_CANCELLED",
)

POOL = "ingests"
_MISSING = "No module named 'service"
_STORAGE = re.compile(r"service\.errors\.(?:\w+\.)?StorageDown: (?P<detail>[^\n]+)")
T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")


class SparkExecutors:
    """Implements `Executors`; `session` returns the current session, if there is one."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    @property
    def slots(self) -> int:
        """How many items are worked on at once when nothing else runs; 1 while there is no session."""
        session = self._session()
        return 1 if session is None else max(int(session.context.defaultParallelism), 1)

    def map(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:
        """See `service.ports.engine.executors.Executors`."""
        if not items:
            return []
        session = self._session()
        if session is None:
            raise EngineNotReady
        with spark_errors(session):
            label(session.context, tag)
            # An RDD: the DataFrame's `mapInArrow` needs pandas, which nothing here uses.
            results: list[R] = session.context.parallelize(items, len(items)).map(function).collect()
        return results

    def regroup(
        self,
        apart: Callable[[T], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        items: Sequence[T],
        part_count: int,
        tag: str,
    ) -> list[R]:
        """See `service.ports.engine.executors.Executors`."""
        if not items:
            return []
        session = self._session()
        if session is None:
            raise EngineNotReady
        with spark_errors(session):
            label(session.context, tag)
            numbered = session.context.parallelize(list(enumerate(items)), len(items))
            values = numbered.flatMap(partial(placed_values, apart))
            results: list[R] = regrouped(values, together, part_count).collect()
        return results


def regrouped(values: RDD[tuple[Place, V]], together: Callable[[Iterator[V]], R], part_count: int) -> RDD[R]:
    """Applies the function to the values of each part, in the order of their places."""
    # Sorts on disk if a part does not fit into `spark.python.worker.memory`.
    parts = values.repartitionAndSortWithinPartitions(  # type: ignore[type-var]
        part_count, part_of, True, order_in_part
    )
    return parts.mapPartitions(partial(of_part, together))


def label(context: SparkContext, tag: str) -> None:
    """Tags the next Spark jobs of this thread, in a pool of their own beside the queries'."""
    context.clearJobTags()
    context.addJobTag(tag)
    context.setLocalProperty("spark.scheduler.pool", POOL)


@contextmanager
def spark_errors(session: WarmSession) -> Iterator[None]:
    """Turns errors of PySpark and its sockets into the gateway's own; the log has the cause."""
    try:
        yield
    except (PySparkException, *UNREACHABLE) as failure:
        if session.is_lost():
            raise EngineLost from failure
        note = log.info if _is_interruption(str(failure)) else log.warning
        note("executors_failed", error=type(failure).__name__, reason=str(failure))
        raise _in_gateway_terms(str(failure)) from failure


def _is_interruption(text: str) -> bool:
    """Whether it was asked to end: stopping a stream interrupts the work of its batch.

    >>> _is_interruption("An error occurred: java.nio.channels.ClosedByInterruptException at java.base")
    True
    >>> _is_interruption("java.io.IOException: No space left on device")
    False

    Source: Spark's `StreamExecution.isInterruptionException`.
    """
    return any(interruption in text for interruption in _INTERRUPTIONS)


def _in_gateway_terms(text: str) -> PartDown:
    r"""Returns why the executors failed, if they reported it in the gateway's own terms.

    >>> _in_gateway_terms("Traceback …\nservice.errors.unavailable.StorageDown: It does not answer.\n\tat …")
    StorageDown('It does not answer.')
    """
    if found := _STORAGE.search(text):
        return StorageDown(found["detail"])
    if _MISSING in text:
        return ExecutorsFailed(
            "The Python of Spark's executors has no module `service`: install this gateway's wheel there, and"
            f" name that Python by {PYTHON} in SLUICE_SPARK_CONF."
        )
    return ExecutorsFailed()
