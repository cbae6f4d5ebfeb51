"""Keeps one warm session, and starts another when its JVM dies or can no longer answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from service.errors.query_errors import QueryCanceled
from service.errors.unavailable import EngineNotReady
from service.model.operations.engine_signs import EngineLoss, EngineSigns
from service.model.operations.health import PartHealth, PartState
from spark_session.session.warm_session import WarmSession
from spark_session.settings.settings import SparkSettings
from spark_session.supervision.session_watch import SessionWatch
from spark_session.supervision.suspects import Suspects
from spark_session.supervision.verdict import EngineBounds

log = structlog.get_logger(__name__)

WATCH_INTERVAL_S = 0.25
LOOK_AROUND_S = 0.2
FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 15.0


class SessionKeeper:
    """One thread replaces the session when necessary. Any thread may call any method.

    `suspects` receives each loss, with the texts that ran then.
    """

    def __init__(
        self, settings: SparkSettings, bounds: EngineBounds, suspects: Suspects, ready_timeout_s: float
    ) -> None:
        self._settings = settings
        self._bounds = bounds
        self._suspects = suspects
        self._ready_timeout_s = ready_timeout_s
        self._watch: SessionWatch | None = None
        self._lost_because = ""
        self._losses = dict.fromkeys(EngineLoss, 0)
        self._last_up_s = time.monotonic()
        self._has_failed_start = False
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._keep, name="spark-watch", daemon=True)

    def start(self) -> None:
        """Returns once the session is warm.

        Raises:
            CannotStart: Spark does not start with these settings.
        """
        self._start_session()
        self._watcher.start()

    @property
    def watch(self) -> SessionWatch | None:
        """The watch of the session, which may be lost already; None while another one is being started."""
        return self._watch

    @property
    def session(self) -> WarmSession | None:
        """The session that is warm now; None if there is none."""
        watch = self._watch
        return watch.session if watch is not None and watch.session.is_alive() else None

    def warm(self, is_canceled: Callable[[], bool]) -> WarmSession:
        """Returns the session; waits while one is being started.

        Raises:
            EngineNotReady: there is none in time.
            QueryCanceled: the caller no longer waits.
        """

        def is_decided() -> bool:
            return self.session is not None or self._closing.is_set() or is_canceled()

        deadline = time.monotonic() + self._ready_timeout_s
        with self._changed:
            # While a start goes on, the query waits, up to its own timeout.
            while not is_decided() and (not self._has_failed_start or time.monotonic() < deadline):
                self._changed.wait(LOOK_AROUND_S)
            watch = self._watch
        if is_canceled():
            raise QueryCanceled
        if watch is None or self._closing.is_set():
            raise EngineNotReady
        return watch.session

    def health(self) -> PartHealth:
        """Returns the engine's health at once: the JVM is not asked."""
        watch = self._watch
        lost_count, down_s = sum(self._losses.values()), time.monotonic() - self._last_up_s
        if watch is None or watch.is_gone:
            detail = f"A new session is being started. {self._lost_because}".strip()
            return PartHealth(
                "engine", PartState.STARTING, detail, True, lost_count=lost_count, down_s=down_s
            )
        verdict = watch.verdict()
        given_up_count = verdict.given_up_count
        if verdict.is_up:
            return PartHealth("engine", PartState.UP, verdict.detail, True, given_up_count, lost_count)
        return PartHealth("engine", PartState.DOWN, verdict.detail, True, given_up_count, lost_count, down_s)

    def signs(self) -> EngineSigns:
        """Returns the engine's signs for a monitor. Returns at once: the JVM is not asked."""
        watch = self._watch
        if watch is None or watch.is_gone:
            return EngineSigns(self._losses)
        return watch.signs(self._losses)

    def close(self) -> None:
        """Stops the session, and starts no other one."""
        self._closing.set()
        watch = self._watch
        self._become(None)
        if watch is not None:
            watch.session.stop()
        if self._watcher.is_alive():
            # A watcher that starts a session at this moment stops it on its own.
            self._watcher.join(WATCH_INTERVAL_S)

    def _start_session(self) -> None:
        session = WarmSession.start(self._settings)
        try:
            watch = SessionWatch.start(session, self._bounds)
        except BaseException:
            session.jvm.kill()
            raise
        self._become(watch)

    def _become(self, watch: SessionWatch | None) -> None:
        with self._changed:
            before = self._watch
            is_too_late = watch is not None and self._closing.is_set()
            self._watch = None if is_too_late else watch
            self._changed.notify_all()
        if before is not None:
            before.stop()
        if watch is not None and is_too_late:
            watch.stop()
            watch.session.stop()

    def _keep(self) -> None:
        pause_s = FIRST_RETRY_S
        while not self._closing.is_set():
            try:
                self._look_after()
                pause_s = FIRST_RETRY_S
            except Exception as failure:  # the outermost edge of the watcher: without it no engine comes back
                self._has_failed_start = True
                log.exception("engine_restart_failed", error=type(failure).__name__, retry_in_s=pause_s)
                self._closing.wait(pause_s)
                pause_s = min(pause_s * 2, LONGEST_RETRY_S)

    def _look_after(self) -> None:
        watch = self._watch
        if watch is None:
            self._start_session()
            self._has_failed_start = False
            log.info("engine_warm_again")
            return
        watch.session.jvm.is_dead_within(WATCH_INTERVAL_S)
        if watch.is_gone:
            self._lose(watch, EngineLoss.PROCESS_ENDED, "Its process ended.")
            return
        verdict = watch.verdict()
        if verdict.is_up:
            # Set only here: if the watcher hangs, the engine's time runs out too.
            self._last_up_s = time.monotonic()
        elif verdict.loss is not None:
            # Only the hanging texts are to blame, not the queries that ran beside them.
            culprits = watch.given_up_texts() if verdict.given_up_count else None
            self._suspects.note_loss_of(watch.session.calls, culprits)
            self._lose(watch, verdict.loss, verdict.detail)

    def _lose(self, watch: SessionWatch, loss: EngineLoss, reason: str) -> None:
        if self._closing.is_set():
            return
        session = watch.session
        self._suspects.note_loss_of(session.calls)
        log.error("engine_lost", exit_code=session.jvm.process.poll(), reason=reason)
        self._lost_because = reason
        self._losses[loss] += 1
        self._become(None)
        session.children.close()
        session.catalogs.close()
        session.jvm.kill()
