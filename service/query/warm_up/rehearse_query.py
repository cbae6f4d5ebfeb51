"""Runs one query as it would run for a caller, and drops its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from service.errors.query_errors import QueryCanceled
from service.model.operations.health import PartHealth
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.query.execution.check_parameters import check_parameters
from service.query.execution.run_pruned import run_pruned
from service.query.execution.run_query import QueryPorts, pruned_query
from service.query.execution.validate import validate
from service.query.registry.query_handle import QueryHandle


def rehearse_query(query: QueryHandle, ports: QueryPorts) -> None:
    """Collects the query's filters and runs it once; leaves no record. A statement that writes is refused.

    Raises:
        CallerError: the query could not be run, or it writes.
        QueryEnded: it failed, or was canceled.
        PartDown: there is no engine now.
    """
    if not query.start(ports.clock.elapsed_ms()):
        raise QueryCanceled
    validate(query.request.sql, ports.max_sql_bytes, ports.max_sql_nesting)
    check_parameters(query.request.sql, query.request.parameters)
    pruned = pruned_query(query, ports)
    # It does not run again on another engine: it may be what the first one died of.
    run_pruned(query, pruned, ports.pruner, Rehearsing(ports.engine), 0).rows()


@dataclass(frozen=True, slots=True)
class Rehearsing:
    """Implements `Engine` with runs that no caller asked for."""

    engine: Engine

    def run(self, statement: Statement) -> EngineResult:
        """Runs the statement, unless its text may have killed an engine."""
        return self.engine.run(replace(statement, is_rehearsal=True))

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
