"""Runs one statement in one child session: parse, plan, run, collect, and report its scans."""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.errors import QueryCanceled, QueryEnded, QueryFailed
from service.model.query.query import EngineRun
from service.ports import EngineResult, Statement
from spark_session.results.result_types import in_arrow_types, result_columns
from spark_session.session.parameters import spark_arguments
from spark_session.session.warm_session import WarmSession

HIDDEN_VALUES = (
    "The query failed. Policies restrict what it reads, so the reason is not shown: it may name a value."
)
HIDDEN_PLAN = "Policies restrict what this query reads, so its plans are not shown."
EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"


@dataclass(slots=True)
class Attempt:
    """A run's progress, for the record of a run that fails."""

    started: float = field(default_factory=time.monotonic)
    planned: float | None = None
    frame: DataFrame | None = None
    applied: tuple[str, ...] = ()

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
    with session.children.taken(
        statement.catalog, statement.schema, str(statement.query_id), statement.caller
    ) as child:
        asked, attempt.applied = analyzed(session, child, statement)
        frame = session.rows.limited(in_arrow_types(asked), statement.row_limit + 1)
        is_short = session.rows.is_short(frame, statement.row_limit)
        session.guard.allow_planned(frame)
        attempt.frame, attempt.planned = frame, (planned := time.monotonic())
        if statement.is_canceled():
            raise QueryCanceled
        if statement.admit is not None:
            session.children.use_pool(child, statement.admit(session.planned_work.read(frame)))
        rows, is_truncated = within(session.rows.collect(frame, is_short), statement)
        return EngineResult(
            rows=rows,
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
            reads=lambda: session.reuse_facts.reads(asked),
        )


def analyzed(
    session: WarmSession, child: SparkSession, statement: Statement
) -> tuple[DataFrame, tuple[str, ...]]:
    """Returns the statement as Spark understands it, over what its principal sees, after all checks.

    Also returns the names of the policies that hide something of its tables.

    Raises:
        TableAccessDenied: its principal may not read a table.
        CallerError: it is not a query, or a parameter does not fit its type.
        QueryFailed: a relation that it reads is no longer cached.
        PySparkException: Spark refused it.
    """
    session.guard.allow_queries_only(child, statement.sql, statement.parameters)
    session.relations.bind(child, statement.relations)
    for name, value in statement.properties.items():
        child._jconf.setConfString(name, _with_excluded(child, name, value))
    asked = child.sql(statement.sql, spark_arguments(statement.parameters))
    _check(session, asked)
    return session.table_guards.guarded(
        child,
        statement.sql,
        asked,
        statement.access,
        statement.relations.keys(),
        partial(_check, session),
    )


def _check(session: WarmSession, asked: DataFrame) -> None:
    session.guard.allow_reading_only(asked)
    session.guard.allow_size(asked)


def _with_excluded(child: SparkSession, name: str, value: str) -> str:
    """Adds to the rules that are excluded for every session, so that those stay excluded."""
    before = child.conf.get(EXCLUDED_RULES, "") if name == EXCLUDED_RULES else ""
    return f"{before},{value}" if before else value


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
    # A slice of a table without columns has as many rows as it is asked for.
    cut = rows.slice(0, min(statement.row_limit, rows.num_rows))
    if cut.nbytes > statement.byte_limit:
        # Rows differ in size, so their number says nothing; but the size of the first n only grows with n.
        counts = range(1, cut.num_rows + 1)
        fitting = bisect_right(counts, statement.byte_limit, key=lambda count: cut.slice(0, count).nbytes)
        cut = cut.slice(0, max(1, fitting))
    return cut, cut.num_rows < rows.num_rows


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
