"""Runs the rewritten text of a query, and falls back to its caller's own."""

from __future__ import annotations

from dataclasses import replace

import structlog

from service.errors.gateway_error import CallerError, GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed, VerificationFailed
from service.errors.unavailable import EngineLost
from service.model.filters.filter_record import Reason
from service.model.query.verification import Verification
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.query.execution.pinned_states import pinned_states
from service.query.execution.verify import verify
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.skipped_scans import skipped_scans
from service.query.registry.query_handle import QueryHandle
from service.query.registry.run_outcome import RunOutcome

log = structlog.get_logger(__name__)


def run_pruned(
    query: QueryHandle, pruned: PrunedQuery, pruner: Pruner, engine: Engine, retries: int
) -> RunOutcome:
    """Runs the rewritten text, or the caller's text if there is none or the engine rejects it.

    A failure is part of the outcome, because the record shows the text that ran last. If the query asks for a
    verification and the two texts return different rows, the failure is a `VerificationFailed`.
    """
    verification = None
    try:
        if pruned.rewritten_sql is not None:
            result = _rewritten_rows(query, pruned, pruner, engine, retries)
            if isinstance(result, EngineResult):
                pruned = pruned.with_late(result.late_uses).with_tuples(result.tuple_uses)
                if query.text.explain is not None:
                    return RunOutcome(pruned, result)
                verification = _verification(query, pruned, result, pruner, engine, retries)
                if verification is Verification.DIFFERENT:
                    _distrust(query, pruned, pruner)
                return RunOutcome(pruned, _with_skipped(result, pruned), verification)
            pruned = result
        if query.request.pruning.is_verified:
            verification = Verification.NOT_PRUNED
        return RunOutcome(pruned, _run_text(query, query.text.sql, engine, retries), verification)
    except GatewayError as failure:
        return RunOutcome(pruned, failure, verification)


def _rewritten_rows(
    query: QueryHandle, pruned: PrunedQuery, pruner: Pruner, engine: Engine, retries: int
) -> EngineResult | PrunedQuery:
    """Returns the rows of the rewritten text; or the query as written, where those rows cannot be used.

    Raises:
        GatewayError: the query was canceled, or the engine was lost.
    """
    try:
        result = _run_rewritten(query, pruned, engine, retries)
    except (CallerError, QueryFailed) as failure:
        if query.is_canceled():
            raise
        log.warning("rewrite_rejected", code=failure.code, detail=failure.detail)
        return pruned.as_written(query.text.sql)
    return pruned.as_written(query.text.sql, Reason.SNAPSHOT_MOVED) if pruner.has_moved(pruned) else result


def _with_skipped(result: EngineResult, pruned: PrunedQuery) -> EngineResult:
    """Adds a record of each scan whose filters left nothing to read."""
    skipped = (*pruned.skipped, *skipped_scans(result, pruned.skipped, pruned.referenced))
    return replace(result, scans=(*result.scans, *result.with_totals(skipped))) if skipped else result


def _verification(
    query: QueryHandle,
    pruned: PrunedQuery,
    result: EngineResult,
    pruner: Pruner,
    engine: Engine,
    retries: int,
) -> Verification | None:
    """Compares with the rows of the same snapshots without a filter, if the query asks for it."""
    plain_sql = pruned.pinned_sql
    if not query.request.pruning.is_verified or plain_sql is None:
        return None

    def plain() -> EngineResult:
        rows = _run_text(query, plain_sql, engine, retries)
        if query.is_canceled():
            raise QueryCanceled
        return rows

    found = verify(pruned.expanded_sql or query.text.sql, result, plain)
    if found is Verification.DIFFERENT and pruner.has_changed(pruned):
        return Verification.NOT_COMPARABLE
    return found


def _distrust(query: QueryHandle, pruned: PrunedQuery, pruner: Pruner) -> None:
    """Fails the query, whose rows differ without an excuse; its keys and cached rows are not used again.

    Raises:
        VerificationFailed: always.
    """
    log.error("verification_failed", sql=query.request.sql, rewritten_sql=pruned.rewritten_sql)
    pruner.distrust(pruned)
    raise VerificationFailed


def _run_rewritten(query: QueryHandle, pruned: PrunedQuery, engine: Engine, retries: int) -> EngineResult:
    statement = replace(
        statement_of(query, pruned.sql),
        relations=pruned.relations,
        properties=pruned.properties,
        late_filters=tuple(keys.filter for keys in pruned.late),
        tuple_filters=pruned.tuples,
        states=pinned_states(pruned, query.text.sql, query.request.parameters),
    )
    if statement.session is not None:
        # The text names no view of the session, or none any more; names that pruning has written name tables.
        statement = replace(statement, session=replace(statement.session, views=()))
    return _run(query, statement, engine, retries)


def _run_text(query: QueryHandle, sql: str, engine: Engine, retries: int) -> EngineResult:
    return _run(query, statement_of(query, sql), engine, retries)


def statement_of(query: QueryHandle, sql: str) -> Statement:
    """Returns what the engine is asked for this query, in this form of its text."""
    request = query.request
    return Statement(
        query_id=query.query_id,
        sql=sql,
        parameters=request.parameters,
        catalog=request.catalog,
        schema=request.schema,
        row_limit=request.row_limit,
        byte_limit=request.byte_limit,
        is_canceled=query.is_canceled,
        access=query.access,
        origin=request.sql,
        caller=query.caller,
        explain=query.text.explain,
        session=None if request.session is None else request.session.values,
    )


def _run(query: QueryHandle, statement: Statement, engine: Engine, retries: int) -> EngineResult:
    """Runs the statement again if the engine was lost: queries only read, so nothing is done twice.

    It does not, if the query itself may have killed the engine: see ADR 28.
    """
    for _ in range(retries):
        try:
            return engine.run(statement)
        except EngineLost as lost:
            if query.is_canceled() or not lost.may_run_again:
                raise
    return engine.run(statement)
