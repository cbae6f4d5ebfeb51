"""The engine of one query, which asks whether the query may run when it is planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from service.errors.query_errors import NotAdmitted, QueryCanceled
from service.model.operations.health import PartHealth
from service.model.query.planned_work import PlannedWork
from service.model.query.written_rows import ResultPlace
from service.ports.clock import Clock
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.query.registry.query_handle import QueryHandle

QUERIES_POOL = "queries"

Admit = Callable[[QueryHandle, PlannedWork], str | None]
"""Returns the scheduler's pool in which the planned query runs from now on; None: it has to wait."""


def admit_at_once(query: QueryHandle, work: PlannedWork) -> str:  # noqa: ARG001
    """Lets every query run, in the pool of all queries."""
    return QUERIES_POOL


@dataclass(frozen=True, slots=True)
class AdmittingEngine:
    """Implements `Engine`. The query runs from the moment when it is admitted."""

    engine: Engine
    query: QueryHandle
    admit: Admit
    clock: Clock
    place: ResultPlace | None = None
    """Where its rows may be left; None: nowhere."""

    def run(self, statement: Statement) -> EngineResult:
        """See the port.

        Raises:
            NotAdmitted: the query has to wait.
        """
        return self.engine.run(replace(statement, admit=self._admit, place=self.place))

    def explain(self, statement: Statement) -> EngineResult:
        """See the port."""
        return self.engine.explain(statement)

    def cancel(self, query_id: UUID) -> None:
        """See the port."""
        self.engine.cancel(query_id)

    def health(self) -> PartHealth:
        """See the port."""
        return self.engine.health()

    def close(self) -> None:
        """Does nothing: another owner closes the engine."""

    def _admit(self, work: PlannedWork) -> str:
        pool = self.admit(self.query, work)
        if pool is None:
            raise NotAdmitted
        if not self.query.start(self.clock.elapsed_ms()):
            raise QueryCanceled
        return pool
