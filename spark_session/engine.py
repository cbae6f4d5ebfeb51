"""The engine: one warm session, kept alive, and started anew when its JVM dies."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pyarrow as pa
import structlog
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from service.errors import CannotStart, EngineLost, EngineNotReady, QueryCanceled
from service.model.health import PartHealth, PartState
from service.ports import EngineResult, Statement
from spark_session.errors import in_gateway_terms
from spark_session.run import run
from spark_session.settings import SparkSettings
from spark_session.warm_session import WarmSession

log = structlog.get_logger(__name__)

WATCH_INTERVAL_S = 2.0
FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 15.0
# A socket to the JVM breaks a moment before the operating system calls the process dead.
DEATH_NOTICE_S = 2.0


class SparkEngine:
    """Implements `service.ports.Engine`. One thread watches the JVM and replaces it when it is gone."""

    def __init__(self, settings: SparkSettings, ready_timeout_s: float = 60.0) -> None:
        self._settings = settings
        self._ready_timeout_s = ready_timeout_s
        self._session: WarmSession | None = None
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="spark-watch", daemon=True)

    def start(self) -> None:
        """Returns once the session is warm.

        Raises:
            CannotStart: Spark does not come up with these settings.
        """
        self._become(WarmSession.start(self._settings))
        self._watcher.start()

    def run(self, statement: Statement) -> EngineResult:
        """See `service.ports.Engine`."""
        session = self._warm()
        with _in_gateway_terms(session, statement):
            return run(session, statement)

    def cancel(self, query_id: UUID) -> None:
        """See `service.ports.Engine`."""
        session = self._session
        if session is None or not session.is_alive():
            return
        try:
            session.context.cancelJobsWithTag(str(query_id))
        except (Py4JError, OSError) as failure:
            # A dead JVM runs nothing that could be cancelled.
            log.info("cancel_not_delivered", error=type(failure).__name__)

    def health(self) -> PartHealth:
        """See `service.ports.Engine`."""
        session = self._session
        if session is not None and session.is_alive():
            return PartHealth("engine", PartState.UP, is_required=True)
        return PartHealth("engine", PartState.STARTING, "A new session is being started.", is_required=True)

    def close(self) -> None:
        """See `service.ports.Engine`."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        if self._watcher.is_alive():
            self._watcher.join(LONGEST_RETRY_S * 2)
        session, self._session = self._session, None
        if session is not None:
            session.stop()

    def _warm(self) -> WarmSession:
        def is_warm() -> bool:
            return self._closing.is_set() or (self._session is not None and self._session.is_alive())

        with self._changed:
            self._changed.wait_for(is_warm, self._ready_timeout_s)
            session = self._session
        if session is None or self._closing.is_set():
            raise EngineNotReady
        return session

    def _become(self, session: WarmSession | None) -> None:
        with self._changed:
            self._session = session
            self._changed.notify_all()

    def _watch(self) -> None:
        while not self._closing.is_set():
            session = self._session
            if session is None:
                self._restart()
            elif session.jvm.is_dead_within(WATCH_INTERVAL_S) or session.is_stopped():
                self._lose(session)

    def _lose(self, session: WarmSession) -> None:
        if self._closing.is_set():
            return
        log.error("engine_lost", exit_code=session.jvm.process.poll())
        self._become(None)
        session.jvm.kill()

    def _restart(self) -> None:
        pause_s = FIRST_RETRY_S
        while not self._closing.is_set():
            try:
                self._become(WarmSession.start(self._settings))
            except (CannotStart, PySparkException, Py4JError, OSError) as failure:
                log.error("engine_restart_failed", error=str(failure).splitlines()[0], retry_in_s=pause_s)
                self._closing.wait(pause_s)
                pause_s = min(pause_s * 2, LONGEST_RETRY_S)
            else:
                log.info("engine_warm_again")
                return


@contextmanager
def _in_gateway_terms(session: WarmSession, statement: Statement) -> Iterator[None]:
    """Turns what Spark and its socket raise into what the caller may see."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        if not session.is_alive() or session.is_stopped():
            raise EngineLost from failure
        if statement.is_canceled():
            raise QueryCanceled from failure
        raise in_gateway_terms(failure) from failure
    except (Py4JError, OSError, EOFError, pa.ArrowException) as failure:
        # Nobody answered. Waiting for the process to end lets `health` tell the truth at once.
        session.jvm.is_dead_within(DEATH_NOTICE_S)
        raise EngineLost from failure
