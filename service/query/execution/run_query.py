"""Runs one query, from the worker to its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.policy_errors import TableAccessDenied
from service.errors.query_errors import NotAdmitted, QueryCanceled, QueryEnded
from service.errors.session_errors import SessionRequired
from service.errors.statement_errors import SqlWritesOff, StatementNotAllowed
from service.errors.table_errors import TableNotFound
from service.model.filters.filter_record import Reason
from service.model.operations.health import PartHealth
from service.model.policies.actions import Action
from service.model.query.lineage import ResultLineage
from service.model.query.progress import Phase
from service.model.query.query import EngineRun
from service.model.query.results import Manifest
from service.model.query.statement_text import is_command
from service.model.sessions.session_changes import ForgetMadeView, NoteMadeView
from service.model.tables.tables import TableName
from service.policies.require import may
from service.ports.bounded_calls import BoundedCalls
from service.ports.clock import Clock
from service.ports.engine.query_engine import CpuTimes, Describer, Engine, EngineResult
from service.ports.engine.running_queries import NoRunningQueries, RunningQueries
from service.ports.stores.query_store import Journal
from service.ports.stores.result_files import FormattedFiles, ResultFiles
from service.ports.stores.result_store import ResultStore
from service.ports.stores.session_store import SessionChanges
from service.ports.stores.written_results import NoWrittenResults, WrittenResults
from service.ports.tables.catalogs import Catalogs
from service.ports.telemetry.lineage import Lineage, NoLineage
from service.ports.telemetry.query_metrics import AdmissionMetrics, NoAdmissionMetrics
from service.pruning.sql_text.nesting import MAX_NESTING
from service.query.execution.accepted_texts import AcceptedTexts
from service.query.execution.admitting_engine import Admit, AdmittingEngine, admit_at_once
from service.query.execution.check_parameters import check_parameters
from service.query.execution.prune_write import WritePruning
from service.query.execution.refresh_steps import NoRefresh, Refresh, ran_in_full
from service.query.execution.run_pruned import run_pruned
from service.query.execution.run_write import run_write
from service.query.execution.session_view_texts import SessionViewTexts
from service.query.execution.unpruned_in_session import unpruned_in_session
from service.query.filtering.detection.in_process import InProcess
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.ended_records import engine_run
from service.query.registry.query_handle import QueryHandle
from service.query.registry.readable_results import ReadableResults
from service.query.registry.recorded import record
from service.query.registry.run_outcome import RunOutcome
from service.query.reuse.reuse_steps import NoReuse, Reuse, Ticket
from service.sql_writes.sql_writes import SqlWrites
from service.tracing import step

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPorts:
    """The external parts that a query needs, and its bounds."""

    engine: Engine
    catalogs: Catalogs
    results: ResultStore
    readable: ReadableResults
    """Which of the results may still be read."""
    journal: Journal
    clock: Clock
    pruner: Pruner
    max_sql_bytes: int
    engine_retries: int
    max_sql_nesting: int = MAX_NESTING
    accepted_texts: AcceptedTexts = field(default_factory=AcceptedTexts)
    calls: BoundedCalls = field(default_factory=InProcess)
    """Runs work whose time depends on a text."""
    lineage: Lineage = field(default_factory=NoLineage)
    running: RunningQueries = field(default_factory=NoRunningQueries)
    admission_metrics: AdmissionMetrics = field(default_factory=NoAdmissionMetrics)
    cpu_times: CpuTimes | None = None
    """None: no group has a budget of CPU time."""
    reuse: Reuse = field(default_factory=NoReuse)
    refresh: Refresh = field(default_factory=NoRefresh)
    sessions: SessionChanges | None = None
    """None: this gateway has no sessions."""
    session_views: SessionViewTexts | None = None
    """None: a query that may name a temporary view is not pruned."""
    own_settings: Mapping[str, str] = field(default_factory=dict)
    """The engine's settings of this gateway, as far as sessions may have others."""
    written: WrittenResults = field(default_factory=NoWrittenResults)
    files: ResultFiles | None = None
    """None: results are read chunk by chunk alone."""
    formatted: FormattedFiles | None = None
    """None: results of formats that are not kept have no parts."""
    results_health: Callable[[], Sequence[PartHealth]] = tuple
    """How the place of results is, if it can be down on its own."""
    describer: Describer | None = None
    """None: this gateway describes no queries."""
    writes: SqlWrites | None = None
    """None: SQL may not write here."""


def run_query(query: QueryHandle, ports: QueryPorts, admit: Admit = admit_at_once) -> None:
    """Runs the query to its end; a failure becomes its state, never an exception.

    If `admit` does not let it run when it is planned, it is set aside: call this again in its turn.
    """
    if not query.take(ports.clock.elapsed_ms()):
        return
    query.progress.enter(Phase.PLANNING)
    engine = AdmittingEngine(ports.engine, query, admit, ports.clock)
    try:
        with step("sluice.query.validate"):
            ports.accepted_texts.check(query.request.sql, ports.max_sql_bytes, ports.max_sql_nesting)
            check_parameters(query.request.sql, query.request.parameters)
        ticket = ports.reuse.begin(query)
        if ticket is not None and ticket.is_answered:
            return
        outcome = as_write(query, ports, engine, run_outcome(query, ports, engine, ticket))
        query.note(outcome)
        result = outcome.rows()
        change_session(query, result, ports)
        query.progress.enter(Phase.WRITING)
        with step("sluice.query.store"):
            manifest = store(result, query, ports)
            ports.readable.note(query)
        if ticket is not None:
            ports.reuse.keep(ticket, query, result, manifest)
    except NotAdmitted:
        if not query.set_aside():
            end_failed(query, QueryCanceled(), ports)
    except GatewayError as failure:
        # The query keeps the failure without its causes: this is the last place to see them.
        log.debug("query_failed", code=failure.code, exc_info=True)
        # Rows that it has left before it failed.
        ports.results.drop(query.query_id)
        end_failed(query, failure, ports)
    else:
        succeed(query, result, manifest, ports, ticket)


def run_outcome(
    query: QueryHandle, ports: QueryPorts, engine: AdmittingEngine, ticket: Ticket | None
) -> RunOutcome:
    """Answers the query from a kept state, if there may be one; otherwise prunes it, and runs it."""
    # Rows of states stay in memory: only those of a run in full may be left in the query's place.
    refreshed = None if ticket is None else ports.refresh.answer(query, ticket, engine)
    if isinstance(refreshed, RunOutcome):
        return refreshed
    with step("sluice.query.prune"):
        pruned = pruned_query(query, ports)
        query.prune(pruned)
    query.progress.enter(Phase.RUNNING)
    with step("sluice.query.run"):
        outcome = run_pruned(
            query, pruned, ports.pruner, with_place(query, ports, engine), ports.engine_retries
        )
    return outcome if refreshed is None else ran_in_full(outcome, refreshed)


def as_write(
    query: QueryHandle, ports: QueryPorts, engine: AdmittingEngine, outcome: RunOutcome
) -> RunOutcome:
    """Runs a statement that writes, by the engine's word; returns any other outcome as it is.

    Raises:
        NotAdmitted: it may not run yet.
        GatewayError: it was not committed, or nobody knows whether it was.
    """
    if ports.writes is None or not isinstance(outcome.result, SqlWritesOff):
        return outcome
    if query.text.explain is not None:
        return replace(outcome, result=StatementNotAllowed("A statement that writes is not explained."))
    asked = query.text.sql
    unpruned = unpruned_in_session(asked, query.request.session, ports.own_settings)
    if not ports.writes.is_pruning:
        unpruned = Reason.DISABLED
    pruning = WritePruning(query, ports.pruner, ports.catalogs, unpruned)
    result = run_write(query, ports.writes, engine, ports.clock, pruning)
    return replace(outcome, result=result, pruned=query.pruned)


def with_place(query: QueryHandle, ports: QueryPorts, engine: AdmittingEngine) -> AdmittingEngine:
    """Returns the engine that may leave the query's rows in its place.

    To be compared, rows have to be in memory.
    """
    if query.request.pruning.is_verified:
        return engine
    return replace(engine, place=ports.written.place(query.query_id))


def end_failed(query: QueryHandle, failure: GatewayError, ports: QueryPorts) -> None:
    """Ends the query with this failure, and records it; does nothing if it has ended before."""
    run = engine_run(failure)
    if query.fail(as_seen(failure, query, ports.catalogs), ports.clock.elapsed_ms()):
        record(query, ports.journal, run.plan_text if run else "")


def pruned_query(query: QueryHandle, ports: QueryPorts) -> PrunedQuery:
    """Returns the query with its scans pruned; another statement as it is written."""
    asked = replace(query.request, sql=query.text.sql)
    if is_command(asked.sql):
        return PrunedQuery(asked.sql, otherwise=Reason.NOT_A_QUERY)
    reason = unpruned_in_session(asked.sql, asked.session, ports.own_settings)
    if reason is Reason.SESSION_VIEW and ports.session_views is not None:
        return ports.session_views.pruned(query, asked, ports.pruner)
    if reason is not None:
        return PrunedQuery(asked.sql, otherwise=reason)
    return ports.pruner.prune(asked, query.access, query.is_canceled)


def change_session(query: QueryHandle, result: EngineResult, ports: QueryPorts) -> None:
    """Makes the change of a statement in its session, before anybody hears that the statement has ended.

    Raises:
        CallerError: the session has ended, or may not have this value.
        MetricsStoreDown: the session cannot be changed now.
    """
    if result.change is None or query.is_canceled():
        return
    if isinstance(result.change, NoteMadeView | ForgetMadeView):
        _note_view(query, result.change, ports)
        return
    if ports.sessions is None or query.request.session is None:
        raise SessionRequired
    ports.sessions.change(query.request.session.session_id, query.caller, result.change)


def _note_view(query: QueryHandle, change: NoteMadeView | ForgetMadeView, ports: QueryPorts) -> None:
    """Notes what a write has done, in its session. The write is done: it does not fail for want of a note."""
    if ports.sessions is None or query.request.session is None:
        return
    try:
        ports.sessions.change(query.request.session.session_id, query.caller, change)
    except GatewayError as failure:
        log.warning("view_not_noted", query_id=str(query.query_id), code=failure.code)


def store(result: EngineResult, query: QueryHandle, ports: QueryPorts) -> Manifest:
    """Stores the rows where the caller can read them.

    Raises:
        QueryEnded: they cannot be stored; the error still reports how the query ran.
    """
    try:
        if result.written is not None:
            return ports.written.keep(query.query_id, result.written, result.columns, result.is_truncated)
        return ports.results.put(query.query_id, result.rows, result.columns, result.is_truncated)
    except QueryEnded as failure:
        plan_text = plan_text_of(result)
        failure.run = EngineRun(result.planning_ms, result.running_ms, result.scans, plan_text)
        raise


def succeed(
    query: QueryHandle, result: EngineResult, manifest: Manifest, ports: QueryPorts, ticket: Ticket | None
) -> None:
    """Ends the query with its result, or drops the result if the query was given up in the meantime."""
    if not query.succeed(result, manifest, ports.clock.elapsed_ms()):
        ports.results.drop(query.query_id)
        return
    plan_text, lineage = "", None
    try:
        plan_text = plan_text_of(result)
        lineage = lineage_of(query, result) if ports.lineage.is_followed else None
    finally:
        record(query, ports.journal, plan_text, lineage)
    if ticket is not None:
        ports.reuse.complete(ticket, query, lineage)


def plan_text_of(result: EngineResult) -> str:
    """Renders the plans; returns an empty text if the engine no longer can."""
    try:
        return result.plan_text()
    except GatewayError as failure:
        log.debug("no_plan_text", code=failure.code, exc_info=True)
        return ""


def lineage_of(query: QueryHandle, result: EngineResult) -> ResultLineage:
    """Returns the source columns of the result's columns, as far as the engine knows."""
    return ResultLineage(result.columns, result.lineage(), tuple(query.pruned.cached_tables.items()))


def as_seen(failure: GatewayError, query: QueryHandle, catalogs: Catalogs) -> GatewayError:
    """Adds the most similar names to an unknown table; returns any other failure as it is.

    A principal that may not know of a table hears the same whether or not it exists.
    """
    if not isinstance(failure, TableNotFound):
        return failure
    name = full_name(failure.table, query)
    if not may(query.access, Action.DESCRIBE, TableName.of(name)):
        return TableAccessDenied(TableName.of(name), Action.SELECT)
    found = failure.nearest or catalogs.nearest(name)
    known = [near for near in found if may(query.access, Action.DESCRIBE, TableName.of(near))]
    return failure if list(failure.nearest) == known else TableNotFound(failure.table, known)


def full_name(table: str, query: QueryHandle) -> str:
    """Completes the name as the engine looked it up; a schema may have several levels."""
    parts_given = len(table.split("."))
    schema = query.request.schema if parts_given == 1 else None
    catalog = query.request.catalog if parts_given <= 2 else None
    return ".".join(part for part in (catalog, schema, table) if part)
