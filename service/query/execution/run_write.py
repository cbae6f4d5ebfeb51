"""Runs a statement that writes: exactly once, recorded before it begins, with the outcome that is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import structlog

from service.errors.gateway_error import CallerError, GatewayError
from service.errors.query_errors import (
    CommitStateUnknown,
    QueryFailed,
    RequestIdReused,
    WriteFailed,
    WriteOutcomeUnknown,
    WriteRunning,
)
from service.errors.unavailable import EngineLost
from service.model.filters.filter_record import Reason
from service.model.query.results import Column
from service.model.writes.writes import BeginWrite, Write, WriteKind, WriteRecord, WriteState
from service.ports.clock import Clock
from service.ports.engine.query_engine import Engine, EngineResult
from service.query.execution.prune_write import WritePruning
from service.query.execution.run_pruned import statement_of
from service.query.registry.query_handle import QueryHandle
from service.sql_writes.sql_writes import SqlWrites

log = structlog.get_logger(__name__)

COLUMNS = (
    Column("rows_affected", "BIGINT", is_nullable=True),
    Column("snapshot_id", "BIGINT", is_nullable=True),
)


CALLED = (
    Column("maintenance_id", "STRING", is_nullable=False),
    Column("table_name", "STRING", is_nullable=False),
)


class _NotAsPruned(Exception):
    """The engine reads the pruned text otherwise, or the table has changed; nothing has begun."""


class _SentBefore(Exception):
    """Another query has begun this write; it passes through the engine, before anything is changed."""

    def __init__(self, record: WriteRecord) -> None:
        super().__init__()
        self.record = record


def run_write(
    query: QueryHandle, writes: SqlWrites, engine: Engine, clock: Clock, pruning: WritePruning
) -> EngineResult:
    """Runs the statement to its end, and never a second time. Its result has one row.

    Where its scans can be pruned, its text is another one, which changes the same rows. If the engine rejects
    that text before anything has begun, the statement runs as it is written.

    Raises:
        NotAdmitted: it may not run yet; nothing has begun.
        RequestIdReused: its requestId was sent before with another body.
        WriteRunning: it was sent before, and its outcome is not known yet.
        WriteFailed: it was sent before, and was not committed.
        WriteOutcomeUnknown: its engine was lost, and nobody knows yet, or ever, whether it was committed.
        GatewayError: it was not committed.
    """
    request_id = query.request.request_id
    earlier = None if request_id is None else writes.sent_before(query.caller, request_id)
    if earlier is not None:
        return _sent_before(query, writes, earlier)
    begun: list[WriteRecord] = []

    def begin(write: Write) -> None:
        record = writes.begin(_record(query, write, clock))
        if record.query_id != query.query_id:
            raise _SentBefore(record)
        begun.append(record)
        query.note_write(record)

    try:
        result = _run(query, pruning, engine, begin, begun)
        _performed(begun, writes)
    except _SentBefore as sent:
        return _sent_before(query, writes, writes.looked_up(sent.record))
    except GatewayError as failure:
        if not begun:
            raise
        return _failed(query, writes, writes.ended(begun[0], failure), failure)
    if not begun:
        # The engine has run it as something that does not write.
        return result
    ended = writes.ended(begun[0], None)
    query.note_write(ended)
    return replace(result, rows=writes.rows(ended), columns=_columns(ended))


def _performed(begun: list[WriteRecord], writes: SqlWrites) -> None:
    for record in begun:
        writes.perform(record)


def _run(
    query: QueryHandle,
    pruning: WritePruning,
    engine: Engine,
    begin: BeginWrite,
    begun: Sequence[WriteRecord],
) -> EngineResult:
    pruned = pruning.prune()
    query.prune(pruned.pruned)

    def begin_pruned(write: Write) -> None:
        if not pruning.is_as_pruned(pruned, write):
            raise _NotAsPruned
        begin(write)

    if pruned.pruned.rewritten_sql is not None:
        statement = statement_of(query, pruned.pruned.sql)
        if statement.session is not None:
            # The text names no view of the session; names that pruning has written name tables.
            statement = replace(statement, session=replace(statement.session, views=()))
        try:
            return engine.run(replace(statement, begin_write=begin_pruned))
        except (CallerError, QueryFailed) as failure:
            if begun or query.is_canceled():
                raise
            log.warning("write_rewrite_rejected", code=failure.code, detail=failure.detail)
            query.prune(pruned.pruned.as_written(query.text.sql))
        except _NotAsPruned:
            log.info("write_not_as_pruned", query_id=str(query.query_id))
            query.prune(pruned.pruned.as_written(query.text.sql, Reason.SNAPSHOT_MOVED))
    return engine.run(replace(statement_of(query, query.text.sql), begin_write=begin))


def _record(query: QueryHandle, write: Write, clock: Clock) -> WriteRecord:
    now = clock.now()
    return WriteRecord(
        query_id=query.query_id,
        caller=query.caller,
        write=write,
        started_at=now,
        ends_by=now + timedelta(milliseconds=query.request.timeout_ms),
        request_id=query.request.request_id,
        fingerprint=query.fingerprint,
    )


def _sent_before(query: QueryHandle, writes: SqlWrites, earlier: WriteRecord) -> EngineResult:
    if earlier.fingerprint != query.fingerprint:
        raise RequestIdReused
    query.note_write(earlier)
    if earlier.state is WriteState.COMMITTED:
        return _result(writes, earlier)
    if earlier.state is WriteState.NOT_COMMITTED:
        raise WriteFailed(
            "The write that was sent under this requestId was not committed."
            f" {earlier.error_detail or ''} Send it again under a new one.".replace("  ", " ")
        )
    if writes.is_never_known(earlier):
        raise WriteOutcomeUnknown(
            f"What ran the {earlier.write.kind.words} was lost, and nothing in the catalog says whether it"
            f" was done. Look at {earlier.write.table}, and send what is missing under a new requestId."
        )
    raise WriteRunning


def _failed(query: QueryHandle, writes: SqlWrites, ended: WriteRecord, failure: GatewayError) -> EngineResult:
    """Returns the result of a write that was committed all the same.

    Raises:
        GatewayError: it was not, or that is not known.
    """
    query.note_write(ended)
    if ended.state is WriteState.COMMITTED:
        log.warning("write_committed_before_failure", code=failure.code)
        return _result(writes, ended)
    if ended.state is WriteState.UNKNOWN:
        raise WriteOutcomeUnknown from failure
    if isinstance(failure, EngineLost | CommitStateUnknown):
        raise EngineLost(
            "The engine was lost while the write ran. Nothing was committed: send it again under a new"
            " requestId."
        ) from failure
    raise failure


def _result(writes: SqlWrites, record: WriteRecord) -> EngineResult:
    """Returns the result of a write of which only its outcome is known."""
    return EngineResult(
        rows=writes.rows(record),
        columns=_columns(record),
        is_truncated=False,
        planning_ms=0,
        running_ms=0,
        scans=(),
        plan_text=str,
    )


def _columns(record: WriteRecord) -> tuple[Column, ...]:
    if record.write.kind is WriteKind.CALL:
        return CALLED
    return COLUMNS if record.write.has_snapshot else ()
