"""The engine: one warm session, kept alive, and started anew when its JVM dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

import pyarrow as pa
import structlog
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from service.errors import (
    EngineLost,
    EngineNotReady,
    GatewayError,
    QueryCanceled,
    QueryEnded,
    QueryFailed,
)
from service.model.health import PartHealth, PartState
from service.ports import EngineResult, Statement
from spark_session.errors import in_gateway_terms
from spark_session.explain import explain
from spark_session.run import Attempt, run
from spark_session.settings import SparkSettings
from spark_session.warm_session import WarmSession

log = structlog.get_logger(__name__)

WATCH_INTERVAL_S = 2.0
LOOK_AROUND_S = 0.2
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

    @property
    def session(self) -> WarmSession | None:
        """The session that is warm now; None while there is none."""
        session = self._session
        return session if session is not None and session.is_alive() else None

    @property
    def slots(self) -> int:
        """How many tasks run at once, when nothing else runs; 1 while there is no session."""
        session = self.session
        return 1 if session is None else max(int(session.context.defaultParallelism), 1)

    def run(self, statement: Statement) -> EngineResult:
        """See `service.ports.Engine`."""
        session = self._warm(statement)
        attempt = Attempt()
        try:
            with in_engine_terms(session, statement.is_canceled):
                return run(session, statement, attempt)
        except QueryEnded as failure:
            failure.run = attempt.so_far(session)
            raise

    def explain(self, statement: Statement) -> EngineResult:
        """See `service.ports.Engine`."""
        session = self._warm(statement)
        with in_engine_terms(session, statement.is_canceled):
            return explain(session, statement)

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

    def catalog_faults(self) -> Mapping[str, str]:
        """Why a catalog cannot be used in the engine, by its name; nothing while there is no session."""
        session = self.session
        return {} if session is None else session.catalogs.faults()

    def close(self) -> None:
        """See `service.ports.Engine`."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
            session, self._session = self._session, None
        if session is not None:
            session.stop()
        if self._watcher.is_alive():
            # One that starts a session just now stops it itself.
            self._watcher.join(WATCH_INTERVAL_S)

    def _warm(self, statement: Statement) -> WarmSession:
        def is_decided() -> bool:
            is_warm = self._session is not None and self._session.is_alive()
            return is_warm or self._closing.is_set() or statement.is_canceled()

        deadline = time.monotonic() + self._ready_timeout_s
        with self._changed:
            while not is_decided() and time.monotonic() < deadline:
                self._changed.wait(LOOK_AROUND_S)
            session = self._session
        if statement.is_canceled():
            raise QueryCanceled
        if session is None or self._closing.is_set():
            raise EngineNotReady
        return session

    def _become(self, session: WarmSession | None) -> None:
        with self._changed:
            is_too_late = session is not None and self._closing.is_set()
            self._session = None if is_too_late else session
            self._changed.notify_all()
        if session is not None and is_too_late:
            session.stop()

    def _watch(self) -> None:
        pause_s = FIRST_RETRY_S
        while not self._closing.is_set():
            try:
                self._look_after()
                pause_s = FIRST_RETRY_S
            except Exception as failure:  # the outermost edge of the watcher: without it no engine comes back
                log.exception("engine_restart_failed", error=type(failure).__name__, retry_in_s=pause_s)
                self._closing.wait(pause_s)
                pause_s = min(pause_s * 2, LONGEST_RETRY_S)

    def _look_after(self) -> None:
        session = self._session
        if session is None:
            self._become(WarmSession.start(self._settings))
            log.info("engine_warm_again")
        elif session.jvm.is_dead_within(WATCH_INTERVAL_S) or session.is_stopped():
            self._lose(session)
        else:
            session.release_reader_memory()
            session.tables.register()

    def _lose(self, session: WarmSession) -> None:
        if self._closing.is_set():
            return
        log.error("engine_lost", exit_code=session.jvm.process.poll())
        self._become(None)
        session.children.close()
        session.catalogs.close()
        session.jvm.kill()


@contextmanager
def in_engine_terms(session: WarmSession, is_canceled: Callable[[], bool]) -> Iterator[None]:
    """Turns what Spark and its socket raise into what the caller may see."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        if _is_gone(session):
            raise EngineLost from failure
        if is_canceled():
            raise QueryCanceled from failure
        raise _translated(failure) from failure
    except (Py4JError, OSError, EOFError, pa.ArrowException, AssertionError, AttributeError) as failure:
        # Nobody answered; PySpark itself stumbles over a context that was forgotten meanwhile. Waiting for
        # the process to end lets `health` tell the truth at once.
        session.jvm.is_dead_within(DEATH_NOTICE_S)
        if _is_gone(session) or isinstance(failure, Py4JNetworkError):
            raise EngineLost from failure
        if isinstance(failure, AssertionError | AttributeError):
            raise
        raise QueryFailed("The engine could not make sense of this query.") from failure


def _is_gone(session: WarmSession) -> bool:
    return not session.is_alive() or session.is_stopped()


def _translated(failure: PySparkException | Py4JJavaError) -> GatewayError:
    """The error that the caller sees; its parts are asked of the JVM, which may go at that moment."""
    try:
        return in_gateway_terms(failure)
    except (Py4JError, OSError):
        return EngineLost()
