"""Plans one query as it would run now, without running it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from service.errors.query_errors import QueryCanceled
from service.errors.table_errors import TableNotFound
from service.model.operations.health import PartHealth
from service.model.query.explanation import PLANNED, Explanation
from service.model.query.query import QueryRequest, QueryState
from service.policies.shown_counts import with_shown_counts
from service.ports.bounded_calls import BoundedCalls
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.query.execution.check_parameters import check_parameters
from service.query.execution.run_pruned import run_pruned
from service.query.execution.run_query import QueryPorts, as_seen, plan_text_of, pruned_query
from service.query.execution.validate import validate
from service.query.explaining.explain import explain
from service.query.explaining.only_run import without_writes
from service.query.filtering.unfiltered_scans import unfiltered_scans
from service.query.registry.query_handle import QueryHandle
from service.query.registry.recorded import MAX_PLAN_CHARACTERS
from service.tracing import step


def plan_query(query: QueryHandle, ports: QueryPorts) -> Explanation:
    """Collects the query's filters as for a run, and returns its rewritten text and plans; leaves no record.

    Raises:
        CallerError: the query could not be run.
        QueryEnded: it was canceled, or the engine cannot plan it.
        PartDown: there is no engine now.
    """
    if not query.start(ports.clock.elapsed_ms()):
        raise QueryCanceled
    with step("sluice.query.validate"):
        validate(query.request.sql, ports.max_sql_bytes, ports.max_sql_nesting)
        check_parameters(query.request.sql, query.request.parameters)
    with step("sluice.query.prune"):
        pruned = pruned_query(query, ports)
    try:
        with step("sluice.query.plan"), without_writes(ports):
            outcome = run_pruned(query, pruned, ports.pruner, PlansOnly(ports.engine), ports.engine_retries)
            query.note(outcome)
            planned = outcome.rows()
    except TableNotFound as failure:
        raise as_seen(failure, query, ports.catalogs) from failure
    return _explanation(query, planned, ports.calls)


def only_planned(request: QueryRequest) -> QueryRequest:
    """Returns the request without options that need a run: a verification compares rows."""
    return replace(request, pruning=replace(request.pruning, is_verified=False))


def _explanation(query: QueryHandle, planned: EngineResult, calls: BoundedCalls) -> Explanation:
    record = query.record
    pruning_ms = record.parse_ms + record.detect_ms + record.filters_ms
    shown = replace(
        record,
        state=QueryState.SUCCEEDED,
        scans=with_shown_counts(planned.scans, query.access),
        applied=planned.applied,
        filters=(*record.filters, *unfiltered_scans(query.pruned, planned.scans)),
        spark_plan=plan_text_of(planned)[:MAX_PLAN_CHARACTERS],
        planning_ms=pruning_ms + planned.planning_ms,
    )
    return replace(explain(shown, calls), query_id=None, state=PLANNED)


@dataclass(frozen=True, slots=True)
class PlansOnly:
    """Implements `Engine` with runs that end as soon as the plan is there."""

    engine: Engine

    def run(self, statement: Statement) -> EngineResult:
        """Plans the statement."""
        return self.engine.explain(statement)

    def explain(self, statement: Statement) -> EngineResult:
        """Plans the statement, as `run` does."""
        return self.engine.explain(statement)

    def cancel(self, query_id: UUID) -> None:
        """See the port."""
        self.engine.cancel(query_id)

    def health(self) -> PartHealth:
        """See the port."""
        return self.engine.health()

    def close(self) -> None:
        """Does nothing: another owner closes the engine."""
