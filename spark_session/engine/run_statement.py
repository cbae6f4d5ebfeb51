"""Runs one statement in one child session: parse, plan, run, collect, and report its scans."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.errors.query_errors import QueryCanceled, QueryEnded, QueryFailed
from service.errors.session_errors import SessionRequired
from service.model.query.query import EngineRun
from service.model.query.written_rows import WrittenRows
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.in_session import child_of
from spark_session.engine.known_query import KnownQuery, known_query, with_kept_plan
from spark_session.engine.metadata.answer import answer
from spark_session.engine.metadata.explained import EXPLAIN, HIDDEN_PLAN, explained
from spark_session.engine.metadata.metadata_rows import Answer
from spark_session.engine.session_commands import changed_by, is_of_session
from spark_session.engine.writes.run_write import run_write
from spark_session.results.result_bounds import cut
from spark_session.results.result_types import in_arrow_types, result_columns
from spark_session.results.row_collector import MAX_INCREMENTAL_ROWS
from spark_session.session.warm_session import WarmSession
from spark_session.vetting.vet_command import METADATA, SESSION
from spark_session.vetting.vetted_writes import is_write

HIDDEN_VALUES = (
    "The query failed. Policies restrict what it reads, so the reason is not shown: it may name a value."
)


@dataclass(slots=True)
class Attempt:
    """A run's progress, for the record of a run that fails."""

    started: float = field(default_factory=time.monotonic)
    planned: float | None = None
    frame: DataFrame | None = None
    applied: tuple[str, ...] = ()

    def note_applied(self, applied: tuple[str, ...]) -> None:
        """Keeps the names of the policies that hide something of what it reads."""
        self.applied = applied

    @property
    def is_restricted(self) -> bool:
        """Whether policies hide something of what it reads."""
        return bool(self.applied)

    def so_far(self, session: WarmSession) -> EngineRun | None:
        """Returns the run's report when it ended; None if it was never planned."""
        if self.frame is None or self.planned is None:
            return None
        return EngineRun(
            planning_ms=milliseconds(self.started, self.planned),
            running_ms=milliseconds(self.planned, time.monotonic()),
            scans=session.scan_reader.read(self.frame),
            plan_text=shown_plan(self.frame, self.is_restricted),
            applied=self.applied,
        )


def run(session: WarmSession, statement: Statement, attempt: Attempt) -> EngineResult:
    """Runs the statement to its end, and notes its progress in `attempt`.

    Raises:
        CallerError: it is not a query, or a parameter does not fit its type.
        NotAdmitted: it may not run yet.
        QueryCanceled: it was canceled; this is checked between steps.
        QueryFailed: a relation that it reads is no longer cached.
        PySparkException: Spark refused it, or it failed or was canceled while it ran.
    """
    with child_of(session, statement) as child:
        known = known_query(session, child, statement)
        with with_kept_plan(session, known):
            return _run(session, child, statement, known, attempt)


def _run(
    session: WarmSession,
    child: SparkSession,
    statement: Statement,
    known: KnownQuery | None,
    attempt: Attempt,
) -> EngineResult:
    if known is not None and known.plan is not None:
        return _rows(session, child, statement, None, known, attempt)
    found = session.guard.read(child, statement.sql)
    if statement.explain is not None or found["nodes"][0] in METADATA:
        return _shown(session, child, statement, found, attempt)
    if found["nodes"][0] in SESSION and is_of_session(session, child, statement):
        return _changed(session, child, statement, attempt)
    if is_write(found["nodes"]):
        return run_write(session, child, statement, found, attempt.note_applied)
    return _rows(session, child, statement, found, known, attempt)


def _rows(
    session: WarmSession,
    child: SparkSession,
    statement: Statement,
    found: Mapping[str, Any] | None,
    known: KnownQuery | None,
    attempt: Attempt,
) -> EngineResult:
    """Runs a query, and returns its rows."""
    asked, attempt.applied = analyzed(session, child, statement, found, known=known)
    with session.tuple_scans.chosen(child, asked, statement.tuple_filters) as tuples:
        result = _rows_of(session, child, statement, asked, attempt)
        return replace(result, tuple_uses=tuples.uses() if statement.tuple_filters else frozenset())


def _rows_of(
    session: WarmSession, child: SparkSession, statement: Statement, asked: DataFrame, attempt: Attempt
) -> EngineResult:
    """Plans and runs an analyzed query."""
    frame = limited(session, in_arrow_types(asked), statement)
    session.small_queries.plan_once(frame)
    is_short = session.rows.is_short(frame, statement.row_limit)
    session.guard.allow_planned(frame)
    attempt.frame, attempt.planned = frame, (planned := time.monotonic())
    if statement.is_canceled():
        raise QueryCanceled
    if statement.admit is not None:
        session.children.use_pool(child, statement.admit(session.planned_work.read(frame)))
    with session.late_scans.watched(frame, statement.late_filters) as late:
        if statement.late_filters and statement.is_canceled():
            # It may have waited for files, when it had no job yet that a cancellation could have stopped.
            raise QueryCanceled
        kept, is_truncated = collected(session, frame, is_short, statement)
    return EngineResult(
        rows=kept.schema.empty_table() if isinstance(kept, WrittenRows) else kept,
        written=kept if isinstance(kept, WrittenRows) else None,
        columns=result_columns(asked.schema),
        is_truncated=is_truncated,
        planning_ms=milliseconds(attempt.started, planned),
        running_ms=milliseconds(planned, time.monotonic()),
        scans=session.scan_reader.read(frame),
        plan_text=lambda: shown_plan(frame, attempt.is_restricted),
        planned_tables=lambda: session.planned_tables.read(frame),
        with_totals=lambda skipped: session.scan_reader.with_totals(frame, skipped),
        lineage=lambda: session.column_lineage.read(asked),
        applied=attempt.applied,
        reads=lambda: session.reuse_facts.reads(frame),
        late_uses=late.uses(),
    )


def _shown(
    session: WarmSession,
    child: SparkSession,
    statement: Statement,
    found: Mapping[str, Any],
    attempt: Attempt,
) -> EngineResult:
    """Returns the rows of a statement that asks for metadata or for a plan; it has no scans."""
    if statement.explain is None and found["nodes"][0] != EXPLAIN:
        answered = answer(session, child, statement)
    else:
        answered = explained(session, child, statement, found)
    attempt.applied = answered.applied
    return _result(answered, statement, attempt)


def _changed(
    session: WarmSession, child: SparkSession, statement: Statement, attempt: Attempt
) -> EngineResult:
    """Returns the rows of a statement that changes its session, and the change.

    Raises:
        SessionRequired: the statement has no session.
    """
    if statement.session is None:
        raise SessionRequired
    changed = changed_by(session, child, statement)
    return replace(_result(changed.answer, statement, attempt), change=changed.change)


def _result(answered: Answer, statement: Statement, attempt: Attempt) -> EngineResult:
    planned = time.monotonic()
    rows, is_truncated = within(answered.rows, statement)
    return EngineResult(
        rows=rows,
        columns=result_columns(answered.schema),
        is_truncated=is_truncated,
        planning_ms=milliseconds(attempt.started, planned),
        running_ms=0,
        scans=(),
        plan_text=str,
        applied=answered.applied,
    )


def limited(session: WarmSession, frame: DataFrame, statement: Statement) -> DataFrame:
    """Returns the frame with one row more than its statement may have, if it has more."""
    is_long = statement.place is not None and statement.row_limit > MAX_INCREMENTAL_ROWS
    limit = session.result_writer.limited if is_long else DataFrame.limit
    return session.rows.limited(frame, statement.row_limit + 1, limit)


def collected(
    session: WarmSession, frame: DataFrame, is_short: bool, statement: Statement
) -> tuple[pa.Table | WrittenRows, bool]:
    """Runs the frame; returns its rows within the statement's bounds, and whether some were left out."""
    if is_short or statement.place is None:
        return within(session.rows.collect(frame, is_short), statement)
    return session.result_writer.write(frame, statement)


def milliseconds(start: float, end: float) -> int:
    """Returns the time between two readings of the monotonic clock.

    >>> milliseconds(1.0, 1.25)
    250
    """
    return round((end - start) * 1000)


def within(rows: pa.Table, statement: Statement) -> tuple[pa.Table, bool]:
    """Returns the rows within the statement's bounds, and whether some were left out.

    At least one row is kept: an empty answer would hide that there is one.
    """
    kept = cut(rows, statement.row_limit, statement.byte_limit)
    return kept, kept.num_rows < rows.num_rows


def hide_values(failure: QueryEnded) -> None:
    """Replaces what the failure says if it may name a value: a hidden row may have it."""
    if type(failure) is QueryFailed:
        failure.detail = HIDDEN_VALUES
        failure.args = (HIDDEN_VALUES,)


def shown_plan(frame: DataFrame, is_restricted: bool) -> str:
    """Returns the plans as text. Those of a restricted query would show the predicates of its policies."""
    return HIDDEN_PLAN if is_restricted else plan_text(frame)


def plan_text(frame: DataFrame) -> str:
    """Returns Spark's plans as text: parsed, analyzed, optimized, and the physical plan that really ran.

    Empty if the JVM was lost after the answer.
    """
    try:
        return str(frame._jdf.queryExecution().toString())
    except (PySparkException, Py4JError, OSError, AssertionError, AttributeError):
        # The last two: another thread made PySpark forget the context in the meantime.
        return ""
