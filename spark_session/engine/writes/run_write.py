"""Runs one statement that writes, after all checks of what it reads and of what it changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.errors.query_errors import CommitStateUnknown, QueryCanceled
from service.errors.statement_errors import SqlWritesOff, StatementNotAllowed
from service.model.sessions.session_changes import ForgetMadeView, NoteMadeView, SessionChange
from service.model.writes.writes import MARK, Write, WriteKind
from service.policies.require import require
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.made_views import made_view
from spark_session.engine.writes.asked_target import asked_target
from spark_session.engine.writes.asked_write import AskedWrite
from spark_session.engine.writes.called import called
from spark_session.engine.writes.changed_rows import changed_rows
from spark_session.engine.writes.commit_failures import commit_failure
from spark_session.engine.writes.definitions import defined
from spark_session.engine.writes.inserted_rows import inserted_rows
from spark_session.engine.writes.ready_write import ReadyWrite
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.warm_session import WarmSession
from spark_session.session.write_statements import ParsedWrite
from spark_session.spark_errors import causes_of
from spark_session.vetting.vetted_writes import DEFINING, NEW_VIEWS


def run_write(
    session: WarmSession,
    child: SparkSession,
    statement: Statement,
    found: Mapping[str, Any],
    on_applied: Callable[[tuple[str, ...]], None],
) -> EngineResult:
    """Runs the statement to its end. `found` is what the guard has read of its text.

    `on_applied` gets the names of the policies that hide something of what it reads, before it runs.

    Raises:
        SqlWritesOff: the statement does not say that it may write.
        TableAccessDenied: its principal may not do this to its target, or not read what it reads.
        CallerError: it holds something that a write may not have, or a parameter does not fit its type.
        NotAdmitted: it may not run yet; nothing has begun.
        QueryCanceled: it was canceled.
        CommitConflict: other commits to its table contradict it. Nothing was committed.
        CommitStateUnknown: it ended without knowing whether it was committed.
        PySparkException: Spark refused it, or it failed.
    """
    if statement.begin_write is None:
        raise SqlWritesOff
    started = time.monotonic()
    parsed = session.sql_writes.read(child, statement.sql)
    if parsed.call is not None:
        return called(statement, parsed, parsed.call, statement.begin_write, started)
    if parsed.kind not in NEW_VIEWS:
        # The text of a view is read again alone: as a part of its statement, Iceberg's parser has changed it.
        session.guard.allow_write(found, statement.parameters)
    write = asked_target(parsed)
    for action in write.kind.needs:
        require(statement.access, action, write.table)
    ready = _ready(
        AskedWrite(session=session, child=child, statement=statement, found=found, parsed=parsed, write=write)
    )
    on_applied(ready.applied)
    _allow_target(parsed, write, ready)
    planned = time.monotonic()
    if statement.is_canceled():
        raise QueryCanceled
    if statement.admit is not None:
        session.children.use_pool(child, statement.admit(ready.work))
    statement.begin_write(replace(write, reads=ready.reads))
    done = _committed(session, ready, write, str(statement.query_id))
    return EngineResult(
        rows=pa.table({}),
        columns=(),
        is_truncated=False,
        planning_ms=round((planned - started) * 1000),
        running_ms=round((time.monotonic() - planned) * 1000),
        scans=session.scan_reader.read(done),
        plan_text=str,
        applied=ready.applied,
        change=_session_change(session, child, statement, parsed, write),
    )


def _session_change(
    session: WarmSession, child: SparkSession, statement: Statement, parsed: ParsedWrite, write: Write
) -> SessionChange | None:
    """Returns what the session remembers of a view: which one it may drop by a name without a schema."""
    if statement.session is None or parsed.target is None:
        return None
    if parsed.kind in NEW_VIEWS:
        # With IF NOT EXISTS, another one may have made the view that is there.
        made = None if parsed.is_kept else made_view(session, child, parsed.target)
        return None if made is None else NoteMadeView(made)
    is_made = any(made.name == parsed.target for made in statement.session.made)
    return ForgetMadeView(parsed.target) if is_made and write.kind is WriteKind.DROP_VIEW else None


def _ready(asked: AskedWrite) -> ReadyWrite:
    if asked.parsed.kind in DEFINING:
        return defined(asked)
    return inserted_rows(asked) if asked.parsed.kind == "InsertIntoStatement" else changed_rows(asked)


def _allow_target(parsed: ParsedWrite, write: Write, ready: ReadyWrite) -> None:
    if parsed.kind in DEFINING:
        return
    if parsed.target is None or not ready.plan.is_into(parsed.target):
        raise StatementNotAllowed(
            f"SQL writes to Iceberg tables alone, and {write.table} is none: views, metadata, branches and"
            " tables of other formats are not written to."
        )


def _committed(session: WarmSession, ready: ReadyWrite, write: Write, query_id: str) -> DataFrame:
    try:
        return ready.plan.run(MARK, query_id)
    except (PySparkException, Py4JJavaError) as failure:
        known = commit_failure(_classes(failure), write)
        if known is not None:
            raise known from failure
        raise
    except (*UNREACHABLE, pa.ArrowException) as failure:
        if session.is_lost() or isinstance(failure, Py4JNetworkError):
            raise
        # The JVM lives, and may still be at it.
        raise CommitStateUnknown from failure


def _classes(failure: PySparkException | Py4JJavaError) -> frozenset[str]:
    try:
        return frozenset(str(cause.getClass().getName()) for cause in causes_of(failure))
    except (TypeError, Py4JError, OSError):
        # The first: Spark's failure has no Java exception behind it. The others: the JVM is gone.
        return frozenset()
