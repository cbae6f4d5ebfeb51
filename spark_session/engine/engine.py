"""The engine: one warm session, restarted when its JVM dies or can no longer answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID, uuid4

import pyarrow as pa
import structlog

from service.errors.query_errors import QueryCanceled, QueryEnded
from service.errors.unavailable import EngineLost, EngineNotReady
from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.operations.engine_signs import EngineLoss, EngineSigns
from service.model.operations.health import PartHealth, PartState
from service.model.operations.usage import CacheUse
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.description import Description
from service.model.query.progress import EngineProgress
from service.model.query.query import Parameters
from service.model.query.reuse import QueryFacts
from service.ports.engine.query_engine import EngineResult, Statement
from service.tracing import step
from spark_session.engine.described import described
from spark_session.engine.engine_terms import in_engine_terms
from spark_session.engine.explain import explain
from spark_session.engine.reuse_facts import reuse_facts
from spark_session.engine.run_statement import Attempt, hide_values, run
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
GONE_WITHIN_S = 10.0
"""How long the end of a lost engine's process is waited for, for a write that it may commit until then."""


class SparkEngine:
    """Implements `Engine`. One thread replaces the session when necessary."""

    def __init__(
        self, settings: SparkSettings, bounds: EngineBounds | None = None, ready_timeout_s: float = 60.0
    ) -> None:
        self._settings = settings
        self._bounds = bounds or EngineBounds()
        self._ready_timeout_s = ready_timeout_s
        self._session: WarmSession | None = None
        self._watch: SessionWatch | None = None
        self._suspects = Suspects(self._bounds.quarantine_s)
        self._lost_because = ""
        self._losses = dict.fromkeys(EngineLoss, 0)
        self._last_up_s = time.monotonic()
        self._has_failed_start = False
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._watch_engine, name="spark-watch", daemon=True)

    def start(self) -> None:
        """Returns once the session is warm.

        Raises:
            CannotStart: Spark does not start with these settings.
        """
        self._start_session()
        self._watcher.start()

    @property
    def session(self) -> WarmSession | None:
        """The session that is warm now; None if there is none."""
        session = self._session
        return session if session is not None and session.is_alive() else None

    @property
    def slots(self) -> int:
        """How many tasks run at once when nothing else runs; 1 while there is no session."""
        session = self.session
        return 1 if session is None else max(int(session.context.defaultParallelism), 1)

    def run(self, statement: Statement) -> EngineResult:
        """See `service.ports.engine.query_engine.Engine`."""
        with self._session_for(statement) as session, step("sluice.engine.run") as span:
            attempt = Attempt()
            try:
                with self._called(session, statement), session.jobs.of(str(statement.query_id)):
                    result = run(session, statement, attempt)
            except EngineLost as lost:
                if statement.begin_write is not None:
                    lost.is_gone = session.jvm.is_dead_within(GONE_WITHIN_S)
                raise
            except QueryEnded as failure:
                failure.run = attempt.so_far(session)
                if attempt.is_restricted:
                    hide_values(failure)
                raise
            span.note({"sluice.planning_ms": result.planning_ms, "sluice.running_ms": result.running_ms})
        # A plan alone does not prove that the text is harmless.
        self._suspects.note_success(statement.text_fingerprint())
        return result

    def explain(self, statement: Statement) -> EngineResult:
        """See `service.ports.engine.query_engine.Engine`."""
        with (
            self._session_for(statement) as session,
            step("sluice.engine.plan"),
            self._called(session, statement),
        ):
            return explain(session, statement)

    def facts_of(self, statement: Statement) -> QueryFacts:
        """See `service.ports.stores.reusable_results.FactReader`."""
        with (
            self._session_for(statement) as session,
            step("sluice.engine.plan"),
            self._called(session, statement),
        ):
            return reuse_facts(session, statement)

    def describe(self, statement: Statement) -> Description:
        """See `service.ports.engine.query_engine.Describer`."""
        with (
            self._session_for(statement) as session,
            step("sluice.engine.describe"),
            self._called(session, statement),
        ):
            return described(session, statement)

    def fetch(
        self,
        query: RelationQuery,
        parameters: Parameters,
        bounds: RelationBounds,
        access: Access,
        within_s: float,
    ) -> CachedRelation | None:
        """Reads the rows of a relation into the engine's memory; None if they are too large.

        These are the rows that `access` shows.

        Raises:
            GatewayError: the engine failed, was lost, or took longer than `within_s`.
        """
        statement = _reading(query, parameters, bounds, access, within_s)
        with (
            self._session_for(statement) as session,
            step("sluice.engine.fetch"),
            self._called(session, statement, is_background=True),
            session.jobs.of(str(statement.query_id)),
        ):
            late = threading.Timer(within_s, self.cancel, [statement.query_id])
            late.start()
            try:
                return session.relations.fetch(query, parameters, bounds, access, str(statement.query_id))
            finally:
                late.cancel()

    def put(
        self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds, within_s: float
    ) -> CachedRelation | None:
        """Takes rows that were read elsewhere into the engine's memory; None if they are too large.

        Raises:
            GatewayError: there is no engine within that time, it failed, or was lost.
        """
        statement = _reading(query, (), bounds, FULL_ACCESS, within_s)
        with (
            self._session_for(statement) as session,
            self._called(session, statement, is_background=True),
        ):
            return session.relations.put(query, rows, bounds)

    def hold(self, fingerprint: str, rows: pa.Table, max_bytes: int) -> bool:
        """See `service.ports.engine.held_rows.HeldRows`."""
        bounds = RelationBounds(max_rows=max(rows.num_rows, 1), max_bytes=max_bytes)
        statement = _held(fingerprint)
        with self._session_for(statement) as session, self._called(session, statement):
            return session.relations.hold(fingerprint, rows, bounds) is not None

    def let_go(self, fingerprint: str) -> None:
        """See `service.ports.engine.held_rows.HeldRows`."""
        session = self._session
        if session is not None:
            session.relations.let_go(fingerprint)

    def taken(self) -> Mapping[UUID, int]:
        """See `service.ports.engine.query_engine.CpuTimes`."""
        session = self.session
        return {} if session is None or session.cpu_times is None else session.cpu_times.taken()

    def cancel(self, query_id: UUID) -> None:
        """See `service.ports.engine.query_engine.Engine`."""
        watch = self._watch
        if watch is not None:
            watch.cancel(query_id)

    def progress(self, query_id: UUID) -> EngineProgress | None:
        """See `service.ports.engine.running_queries.RunningQueries`."""
        watch = self._watch
        return None if watch is None else watch.progress.latest(query_id)

    def health(self) -> PartHealth:
        """See `service.ports.engine.query_engine.Engine`."""
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

    def relations_use(self) -> CacheUse:
        """Returns how much memory the cached relations take. Returns at once: the JVM is not asked."""
        session = self._session
        return CacheUse(0, 0, self._settings.max_relation_bytes) if session is None else session.relations.use

    def kept_rows_use(self) -> CacheUse:
        """Returns the use of the rows that queries have made of relations, as of some seconds ago."""
        session = self._session
        return CacheUse(0, 0, 0, 0, 0, 0) if session is None else session.kept_rows.use

    def catalog_faults(self) -> Mapping[str, str]:
        """Returns why catalogs cannot be used in the engine, by name; empty while there is no session."""
        session = self.session
        return {} if session is None else session.catalogs.faults()

    def close(self) -> None:
        """See `service.ports.engine.query_engine.Engine`."""
        self._closing.set()
        session = self._session
        self._become(None)
        if session is not None:
            session.stop()
        if self._watcher.is_alive():
            # A watcher that starts a session at this moment stops it on its own.
            self._watcher.join(WATCH_INTERVAL_S)

    @contextmanager
    def _session_for(self, statement: Statement) -> Iterator[WarmSession]:
        """Yields a session that may run the statement, in its turn.

        Raises:
            QueryQuarantined: it ran when engines were lost.
            PartDown, QueryCanceled: there is no session in time.
        """
        text = statement.text_fingerprint()
        self._suspects.check(text)
        with self._suspects.turn(text, statement.is_canceled):
            yield self._warm(statement)

    @contextmanager
    def _called(
        self, session: WarmSession, statement: Statement, is_background: bool = False
    ) -> Iterator[None]:
        """Runs the block as a call for the statement's caller, with failures in the engine's terms."""
        text, is_canceled = statement.text_fingerprint(), statement.is_canceled
        with (
            session.calls.under_way(text, is_canceled, str(statement.query_id), is_background),
            self._counted(statement.query_id),
        ):
            try:
                with in_engine_terms(session, is_canceled):
                    yield
            except EngineLost as lost:
                if session.is_lost():
                    self._suspects.note_loss_of(session.calls)
                raise self._suspects.of_loss(text) from lost

    @contextmanager
    def _counted(self, query_id: UUID) -> Iterator[None]:
        """Keeps the query's progress for as long as the block runs."""
        watch = self._watch
        if watch is None:
            yield
            return
        watch.progress.note_begin(query_id)
        try:
            yield
        finally:
            watch.progress.note_end(query_id)

    def _warm(self, statement: Statement) -> WarmSession:
        def is_decided() -> bool:
            is_warm = self._session is not None and self._session.is_alive()
            return is_warm or self._closing.is_set() or statement.is_canceled()

        deadline = time.monotonic() + self._ready_timeout_s
        with self._changed:
            # While a start goes on, the query waits, up to its own timeout.
            while not is_decided() and (not self._has_failed_start or time.monotonic() < deadline):
                self._changed.wait(LOOK_AROUND_S)
            session = self._session
        if statement.is_canceled():
            raise QueryCanceled
        if session is None or self._closing.is_set():
            raise EngineNotReady
        return session

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
            self._session = None if self._watch is None else self._watch.session
            self._changed.notify_all()
        if before is not None:
            before.stop()
        if watch is not None and is_too_late:
            watch.stop()
            watch.session.stop()

    def _watch_engine(self) -> None:
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


def _held(fingerprint: str) -> Statement:
    """Returns the statement that stands for taking rows into memory; nothing of it is run."""
    return Statement(
        query_id=uuid4(),
        sql=fingerprint,
        parameters=(),
        catalog=None,
        schema=None,
        row_limit=1,
        byte_limit=1,
        is_canceled=lambda: False,
        access=FULL_ACCESS,
    )


def _reading(
    query: RelationQuery, parameters: Parameters, bounds: RelationBounds, access: Access, within_s: float
) -> Statement:
    """Returns the statement that reads a relation's rows; it is canceled after `within_s`."""
    until_s = time.monotonic() + within_s
    return Statement(
        query_id=uuid4(),
        sql=query.sql,
        parameters=parameters,
        catalog=None,
        schema=None,
        row_limit=bounds.max_rows,
        byte_limit=bounds.max_bytes,
        is_canceled=lambda: time.monotonic() > until_s,
        access=access,
    )
