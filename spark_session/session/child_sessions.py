"""A session of its own for each query, opened ahead of it."""

from __future__ import annotations

import gc
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_session.java.jvm import UNREACHABLE
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

log = structlog.get_logger(__name__)

POOL = "queries"
POOL_PROPERTY = "spark.scheduler.pool"
SPARE = 4
COLLECT_EVERY = 64


class ChildSessions:
    """Hands out child sessions. Opening one takes Spark some milliseconds, so a few are kept ready.

    Settings of one query never reach another: each session is used once.
    """

    def __init__(self, root: SparkSession, gateway: JavaGateway) -> None:
        self._root = root
        self._java = java_instance(gateway, "sluice.sessions.ChildSessions")
        self._ready: queue.SimpleQueue[SparkSession] = queue.SimpleQueue()
        self._taken = threading.Semaphore(SPARE)
        self._closing = threading.Event()
        self._opener = threading.Thread(target=self._refill, name="child-sessions", daemon=True)

    def open_catalog(self, name: str) -> None:
        """Opens the catalog for all sessions, unless it is open. Until that succeeds, only its tables fail.

        Raises:
            PySparkException, Py4JJavaError: the catalog cannot be opened.
        """
        self._java.openCatalog(self._root._jsparkSession, name)

    def start(self) -> None:
        """Begins to open sessions ahead; the root's catalogs must be open by now."""
        self._opener.start()

    @contextmanager
    def taken(
        self, catalog: str | None, schema: str | None, tag: str, user: str | None = None
    ) -> Iterator[SparkSession]:
        """Yields a fresh session at this catalog and schema; the thread's Spark jobs carry the tag from here.

        `current_user()` is `user`, or the user of this process.

        Its replacement is opened at the end: opening would compete with the query.

        Raises:
            PySparkException: there is no such catalog or schema.
        """
        child, is_spare = self._take()
        try:
            self._java.begin(child._jsparkSession, catalog, schema, tag, POOL, user)
            yield child
        finally:
            if is_spare:
                self._taken.release()

    def use_pool(self, child: SparkSession, pool: str) -> None:
        """Lets the jobs that this thread starts from now on run in another pool of the scheduler."""
        if pool != POOL:
            child.sparkContext.setLocalProperty(POOL_PROPERTY, pool)

    def opened(self, tag: str) -> SparkSession:
        """Returns a session that its thread keeps; that thread's Spark jobs carry the tag from now on.

        Raises:
            PySparkException: Spark's default catalog or schema does not answer.
        """
        child = self._open()
        self._java.begin(child._jsparkSession, None, None, tag, POOL, None)
        return child

    def close(self) -> None:
        """Opens no more sessions."""
        self._closing.set()
        self._taken.release()

    def _take(self) -> tuple[SparkSession, bool]:
        try:
            return self._ready.get_nowait(), True
        except queue.Empty:
            return self._open(), False

    def _open(self) -> SparkSession:
        return SparkSession(self._root.sparkContext, self._java.open(self._root._jsparkSession))

    def _refill(self) -> None:
        opened = 0
        try:
            while not self._closing.is_set():
                self._taken.acquire()
                if self._closing.is_set():
                    return
                self._ready.put(self._open())
                opened += 1
                if opened % COLLECT_EVERY == 0:
                    # Each used session holds its objects in the JVM until Python frees it, and Python's
                    # collector does not know how large they are.
                    gc.collect()
        except (PySparkException, *UNREACHABLE) as failure:
            # The JVM is gone, and this thread with it; the engine starts both again.
            log.info("child_sessions_ended", error=type(failure).__name__)
