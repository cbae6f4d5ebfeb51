"""Spans of Spark's jobs and stages, for traced runs; nothing is asked about others."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext

from service.tracing import Span, current
from spark_session.java.jvm import UNREACHABLE
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

log = structlog.get_logger(__name__)

# Spark reports a job's end to its listeners a moment later, and nobody waits for that here.
REPORT_AFTER_S = 0.5
WAITING_AT_MOST = 1_000
_MILLISECOND_NS = 1_000_000
_Ended = tuple[Span, int, float]


class JobSpans:
    """Asks `JobTimes.java` in the driver's JVM, in a thread of its own, a moment after each run."""

    def __init__(self, gateway: JavaGateway, context: SparkContext) -> None:
        self._gateway = gateway
        self._context = context
        self._lock = threading.Lock()
        self._java: JavaObject | None = None
        self._ended: queue.Queue[_Ended | None] = queue.Queue(WAITING_AT_MOST)
        self._closing = threading.Event()
        self._reporter = threading.Thread(target=self._report_all, name="job-spans", daemon=True)

    def start(self) -> None:
        """Prepares the listener, so that the first traced run need not wait for it."""
        self._listener()

    @contextmanager
    def of(self, tag: str) -> Iterator[None]:
        """Reports the jobs of the block, which carry the tag, as parts of the current step."""
        span = current()
        number = self._watched(tag) if span.is_recorded else None
        try:
            yield
        finally:
            if number is not None:
                self._end(span, number)

    def close(self, within_s: float) -> None:
        """Reports at once what has ended, within this time."""
        self._closing.set()
        if self._reporter.is_alive():
            self._put(None)
            self._reporter.join(within_s)

    def _listener(self) -> JavaObject:
        with self._lock:
            if self._java is None:
                self._java = java_instance(self._gateway, "sluice.engine.JobTimes")
                self._context._jsc.sc().addSparkListener(self._java)
                self._reporter.start()
            return self._java

    def _watched(self, tag: str) -> int | None:
        try:
            return int(self._listener().watch(tag))
        except (Py4JJavaError, *UNREACHABLE) as failure:
            # The run itself finds out whether the JVM is gone.
            log.info("jobs_not_watched", error=type(failure).__name__)
            return None

    def _end(self, span: Span, number: int) -> None:
        self._put((span, number, time.monotonic() + REPORT_AFTER_S))

    def _put(self, ended: _Ended | None) -> None:
        try:
            self._ended.put_nowait(ended)
        except queue.Full:
            log.info("jobs_not_told", waiting=WAITING_AT_MOST)

    def _report_all(self) -> None:
        while (ended := self._ended.get()) is not None:
            span, number, due_s = ended
            self._closing.wait(max(0.0, due_s - time.monotonic()))
            try:
                report_jobs(span, self._listener().taken(number), time.time_ns())
            except (Py4JJavaError, *UNREACHABLE) as failure:
                log.info("jobs_not_told", error=type(failure).__name__)


def report_jobs(span: Span, text: str, now_ns: int) -> None:
    """Adds the listener's JSON as steps of the run: jobs, and the stages of each. Open ones end now."""
    found = json.loads(text)
    jobs: dict[int, Span] = {}
    for job_id, began_ms, ended_ms, is_failed in found["jobs"]:
        ended_ns = now_ns if ended_ms is None else ended_ms * _MILLISECOND_NS
        values = {
            "spark.job_id": job_id,
            "spark.is_failed": is_failed,
            "spark.has_ended": ended_ms is not None,
        }
        jobs[job_id] = span.past("spark.job", began_ms * _MILLISECOND_NS, ended_ns, values)
    for job_id, stage_id, attempt, began_ms, ended_ms, is_failed, tasks, read, fetched, shuffled in found[
        "stages"
    ]:
        values = {
            "spark.stage_id": stage_id,
            "spark.stage_attempt": attempt,
            "spark.is_failed": is_failed,
            "spark.tasks": tasks,
            "spark.input_bytes": read,
            "spark.shuffle_read_bytes": fetched,
            "spark.shuffle_write_bytes": shuffled,
        }
        jobs[job_id].past("spark.stage", began_ms * _MILLISECOND_NS, ended_ms * _MILLISECOND_NS, values)
    if found["leftOut"]:
        log.info("jobs_left_out", count=found["leftOut"])
