"""The engine: what the service asks of the warm session, whichever one that is."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from service.errors.query_errors import QueryEnded
from service.errors.unavailable import EngineLost
from service.model.operations.engine_signs import EngineSigns
from service.model.operations.health import PartHealth
from service.model.operations.usage import CacheUse
from service.model.query.description import Description
from service.model.query.progress import EngineProgress
from service.model.query.reuse import QueryFacts
from service.ports.engine.query_engine import EngineResult, Statement
from service.tracing import step
from spark_session.engine.described import described
from spark_session.engine.engine_calls import EngineCalls
from spark_session.engine.plan_statement import explain
from spark_session.engine.reuse_facts import is_read_alike, reuse_facts
from spark_session.engine.run_statement import Attempt, hide_values, run
from spark_session.java.jvm_cache import EMPTY
from spark_session.session.warm_session import WarmSession
from spark_session.settings.settings import SparkSettings
from spark_session.supervision.session_keeper import SessionKeeper
from spark_session.supervision.suspects import Suspects
from spark_session.supervision.verdict import EngineBounds

GONE_WITHIN_S = 10.0
"""How long the end of a lost engine's process is waited for, for a write that it may commit until then."""


class SparkEngine:
    """Implements `Engine`. Its session is replaced when necessary."""

    def __init__(
        self, settings: SparkSettings, bounds: EngineBounds | None = None, ready_timeout_s: float = 60.0
    ) -> None:
        bounds = bounds or EngineBounds()
        self._settings = settings
        self._suspects = Suspects(bounds.quarantine_s)
        self._keeper = SessionKeeper(settings, bounds, self._suspects, ready_timeout_s)
        self.calls = EngineCalls(self._keeper, self._suspects)

    def start(self) -> None:
        """Returns once the session is warm.

        Raises:
            CannotStart: Spark does not start with these settings.
        """
        self._keeper.start()

    @property
    def session(self) -> WarmSession | None:
        """The session that is warm now; None if there is none."""
        return self._keeper.session

    @property
    def slots(self) -> int:
        """How many tasks run at once when nothing else runs; 1 while there is no session."""
        session = self.session
        return 1 if session is None else max(int(session.context.defaultParallelism), 1)

    def run(self, statement: Statement) -> EngineResult:
        """See `service.ports.engine.query_engine.Engine`."""
        with self.calls.turn(statement) as session, step("sluice.engine.run") as span:
            attempt = Attempt()
            try:
                with (
                    self.calls.under_way(session, statement),
                    session.jobs.of(str(statement.query_id)),
                ):
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
        self.calls.note_success(statement)
        return result

    def explain(self, statement: Statement) -> EngineResult:
        """See `service.ports.engine.query_engine.Engine`."""
        with self.calls.session(statement, "sluice.engine.plan") as session:
            return explain(session, statement)

    def facts_of(self, statement: Statement) -> QueryFacts:
        """See `service.ports.stores.reusable_results.FactReader`."""
        with self.calls.session(statement, "sluice.engine.plan") as session:
            return reuse_facts(session, statement)

    def is_read_alike(self, statement: Statement, sql: str) -> bool:
        """See `service.ports.stores.reusable_results.FactReader`."""
        with self.calls.session(statement, "sluice.engine.plan") as session:
            return is_read_alike(session, statement, sql)

    def describe(self, statement: Statement) -> Description:
        """See `service.ports.engine.query_engine.Describer`."""
        with self.calls.session(statement, "sluice.engine.describe") as session:
            return described(session, statement)

    def taken(self) -> Mapping[UUID, int]:
        """See `service.ports.engine.query_engine.CpuTimes`."""
        session = self.session
        return {} if session is None or session.cpu_times is None else session.cpu_times.taken()

    def cancel(self, query_id: UUID) -> None:
        """See `service.ports.engine.query_engine.Engine`."""
        watch = self._keeper.watch
        if watch is not None:
            watch.cancel(query_id)

    def progress(self, query_id: UUID) -> EngineProgress | None:
        """See `service.ports.engine.running_queries.RunningQueries`."""
        watch = self._keeper.watch
        return None if watch is None else watch.progress.latest(query_id)

    def health(self) -> PartHealth:
        """See `service.ports.engine.query_engine.Engine`."""
        return self._keeper.health()

    def signs(self) -> EngineSigns:
        """Returns the engine's signs for a monitor. Returns at once: the JVM is not asked."""
        return self._keeper.signs()

    def relations_use(self) -> CacheUse:
        """Returns how much memory the cached relations take. Returns at once: the JVM is not asked."""
        session = self.session
        return CacheUse(0, 0, self._settings.max_relation_bytes) if session is None else session.relations.use

    def kept_rows_use(self) -> CacheUse:
        """Returns the use of the rows that queries have made of relations, as of some seconds ago."""
        session = self.session
        return EMPTY if session is None else session.kept_rows.use

    def file_cache_use(self) -> CacheUse:
        """Returns the use of the cache of tables' files, as of some seconds ago."""
        session = self.session
        return EMPTY if session is None else session.file_cache.use

    def manifest_entries_use(self) -> CacheUse:
        """Returns the use of the kept entries of manifests, as of some seconds ago."""
        session = self.session
        return EMPTY if session is None else session.manifest_entries.use

    def tuple_sets_use(self) -> CacheUse:
        """Returns the use of the keys that scans compare with files, as of some seconds ago."""
        session = self.session
        return EMPTY if session is None else session.tuple_sets.use

    def kept_plans_use(self) -> CacheUse:
        """Returns the use of the kept plans of texts, as of some seconds ago."""
        session = self.session
        return EMPTY if session is None else session.kept_plans.use

    def catalog_faults(self) -> Mapping[str, str]:
        """Returns why catalogs cannot be used in the engine, by name; empty while there is no session."""
        session = self.session
        return {} if session is None else session.catalogs.faults()

    def close(self) -> None:
        """See `service.ports.engine.query_engine.Engine`."""
        self._keeper.close()
