"""Runs the pruned text of a query, and falls back to its caller's own."""

from __future__ import annotations

from dataclasses import replace

import structlog

from service.errors import CallerError, EngineLost, QueryCanceled, QueryFailed, VerificationFailed
from service.model.filters.filtering import Reason
from service.model.query.verification import Verification
from service.ports import Engine, EngineResult, Statement
from service.query.filtering.prune import Pruner
from service.query.filtering.skipped_scans import skipped_scans
from service.query.lifecycle.query_handle import QueryHandle
from service.query.lifecycle.verify import verify

log = structlog.get_logger(__name__)


def run_pruned(query: QueryHandle, pruner: Pruner, engine: Engine, retries: int) -> EngineResult:
    """Returns the rows of the pruned text, or of the caller's if there is none or the engine rejects it.

    Raises:
        GatewayError: the caller's own text failed too, or could not be tried any more.
        VerificationFailed: the query asked for a verification, and the two texts gave other rows.
    """
    pruned = query.pruned
    if pruned.rewritten_sql is not None:
        try:
            result = run_rewritten(query, engine, retries)
        except (CallerError, QueryFailed) as failure:
            if query.is_canceled():
                raise
            log.warning("rewrite_rejected", code=failure.code, detail=failure.detail)
            query.prune(pruned.as_written(query.request.sql))
        else:
            if not pruner.has_moved(pruned):
                check(query, result, pruner, engine, retries)
                unread = (*pruned.skipped, *skipped_scans(result, pruned.skipped, pruned.referenced))
                return replace(result, scans=(*result.scans, *(result.with_totals(unread) if unread else ())))
            query.prune(pruned.as_written(query.request.sql, Reason.SNAPSHOT_MOVED))
    if query.request.pruning.is_verified:
        query.note(Verification.NOT_NARROWED)
    return run_on_engine(query, query.request.sql, engine, retries)


def check(query: QueryHandle, narrowed: EngineResult, pruner: Pruner, engine: Engine, retries: int) -> None:
    """Compares the rows with those of the same snapshots without a filter, if the query asks for it.

    Raises:
        VerificationFailed: they differ without an excuse. The query's keys and cached rows are not used
            again.
    """
    pruned = query.pruned
    plain_sql = pruned.pinned_sql
    if not query.request.pruning.is_verified or plain_sql is None:
        return

    def plain() -> EngineResult:
        result = run_on_engine(query, plain_sql, engine, retries)
        if query.is_canceled():
            raise QueryCanceled
        return result

    found = verify(pruned.expanded_sql or query.request.sql, narrowed, plain)
    if found is Verification.DIFFERENT and pruner.has_changed(pruned):
        found = Verification.NOT_COMPARABLE
    query.note(found)
    if found is Verification.DIFFERENT:
        log.error("verification_failed", sql=query.request.sql, rewritten_sql=pruned.rewritten_sql)
        pruner.distrust(pruned)
        raise VerificationFailed


def run_rewritten(query: QueryHandle, engine: Engine, retries: int) -> EngineResult:
    """Runs the rewritten text with the relations and properties that it needs."""
    pruned = query.pruned
    statement = replace(
        _statement(query, pruned.sql), relations=pruned.relations, properties=pruned.properties
    )
    return _run(query, statement, engine, retries)


def run_on_engine(query: QueryHandle, sql: str, engine: Engine, retries: int) -> EngineResult:
    """Runs a text of the query as it is."""
    return _run(query, _statement(query, sql), engine, retries)


def _statement(query: QueryHandle, sql: str) -> Statement:
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
        origin=request.sql,
        caller=query.caller,
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
