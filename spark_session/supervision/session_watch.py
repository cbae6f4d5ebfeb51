"""Watches one warm session for as long as the engine uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from service.model.operations.engine_signs import EngineLoss, EngineSigns, JvmSample
from service.periodic_worker import PeriodicWorker
from spark_session.java.jvm import UNREACHABLE
from spark_session.java.own_classes import java_instance
from spark_session.supervision.cancels import Cancels
from spark_session.supervision.heartbeat import Heartbeat
from spark_session.supervision.progress_reader import ProgressReader
from spark_session.supervision.verdict import EngineBounds, Signs, Verdict, judge

if TYPE_CHECKING:
    from spark_session.session.warm_session import WarmSession

log = structlog.get_logger(__name__)

TAG = "heartbeat"
# The driver answers it without a task, which `SELECT 1` needs: queries that hold all slots for long are not a
# fault of the engine.
TRIAL_SQL = "VALUES 1"
HOUSEKEEPING_INTERVAL_S = 2.0


class SessionWatch:
    """Reports the session's health at once, and asks its JVM in threads that may hang."""

    def __init__(self, session: WarmSession, bounds: EngineBounds) -> None:
        self._session = session
        self._bounds = bounds
        self._java = java_instance(session.jvm.gateway, "sluice.engine.EngineSigns")
        self._slots = max(int(session.context.defaultParallelism), 1)
        self._child: SparkSession | None = None
        self._is_stopped = False
        self._late_tasks: list[tuple[float, str]] = []
        self._sample: JvmSample | None = None
        self._heartbeat = Heartbeat(self._beat, bounds.probe_interval_s, bounds.collection_window_s)
        self._cancels = Cancels(session.context.cancelJobsWithTag)
        self._counters = java_instance(session.jvm.gateway, "sluice.progress.QueryProgress")
        self._progress = ProgressReader(self._counters.progress, self._counters.forget)
        self._housekeeping = PeriodicWorker(
            "engine-housekeeping", self._maintain, HOUSEKEEPING_INTERVAL_S, waits_first=True
        )

    @classmethod
    def start(cls, session: WarmSession, bounds: EngineBounds) -> SessionWatch:
        """Begins to watch."""
        watch = cls(session, bounds)
        session.context._jsc.sc().addSparkListener(watch._java)
        session.context._jsc.sc().addSparkListener(watch._counters)
        watch._heartbeat.start()
        watch._progress.start()
        watch._cancels.start()
        watch._housekeeping.start()
        return watch

    @property
    def session(self) -> WarmSession:
        """The watched session."""
        return self._session

    @property
    def is_gone(self) -> bool:
        """Whether the JVM has ended, or Spark in it."""
        return self._is_stopped or not self._session.is_alive()

    def verdict(self) -> Verdict:
        """Returns the current verdict at once."""
        grace_s = self._bounds.grace_s
        return judge(
            Signs(
                silent_s=self._heartbeat.silent_s(),
                failure=self._heartbeat.failure,
                given_up_calls=[late_s for _, late_s in self._session.calls.given_up(grace_s)],
                given_up_tasks=[late_s - grace_s for late_s, _ in self._late_tasks if late_s >= grace_s],
                slots=self._slots,
                collection_share=self._heartbeat.collection_share(),
            ),
            self._bounds,
        )

    def signs(self, losses: Mapping[EngineLoss, int]) -> EngineSigns:
        """Returns the results of the last trial query, for a monitor. Returns at once."""
        return EngineSigns(
            losses,
            self._heartbeat.silent_s(),
            self._sample,
            self._heartbeat.collection_share(),
            self._session.jvm.process.pid,
        )

    def given_up_texts(self) -> list[str]:
        """Returns the texts of calls and tasks that were given up and still run."""
        calls, grace_s = self._session.calls, self._bounds.grace_s
        tasks = [calls.text_of(tags) for late_s, tags in self._late_tasks if late_s >= grace_s]
        return [call.text for call, _ in calls.given_up(grace_s)] + [task for task in tasks if task]

    def cancel(self, query_id: UUID) -> None:
        """Asks for the query's jobs to be stopped. Returns at once."""
        self._cancels.ask(query_id)

    @property
    def progress(self) -> ProgressReader:
        """How far the queries are that run in the session."""
        return self._progress

    def stop(self) -> None:
        """Stops watching. Threads that wait for the JVM end with it."""
        self._progress.stop()
        self._housekeeping.close()
        self._heartbeat.stop()
        self._cancels.stop()

    def _beat(self) -> int:
        if self._session.is_stopped():
            self._is_stopped = True
        if self._child is None:
            # One session for all beats: each new session is expensive, and Spark logs warnings for it.
            self._child = self._session.children.opened(TAG)
        self._child.sql(TRIAL_SQL).collect()
        lines = [line.partition(" ") for line in str(self._java.lateTasks()).splitlines()]
        self._late_tasks = [(int(late_ms) / 1000, tags) for late_ms, _, tags in lines]
        self._sample = sample = JvmSample(*map(int, str(self._java.sample()).split()))
        return sample.collection_ms

    def _maintain(self) -> None:
        self._progress.forget_ended()
        self._session.release_reader_memory()
        self._session.update_use()
        try:
            self._session.tables.register()
        except (PySparkException, *UNREACHABLE) as failure:
            log.info("tables_not_registered", error=type(failure).__name__)
