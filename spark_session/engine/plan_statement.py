"""Plans one statement in one child session."""

from __future__ import annotations

import time

from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.in_session import child_of
from spark_session.engine.run_statement import milliseconds, shown_plan
from spark_session.results.arrow_schema import arrow_schema
from spark_session.results.result_types import in_arrow_types, result_columns
from spark_session.session.warm_session import WarmSession


def explain(session: WarmSession, statement: Statement) -> EngineResult:
    """Plans the statement as `run` does: the same checks and the same frame, but no job.

    Raises:
        CallerError: it is not a query, or a parameter does not fit its type.
        PySparkException: Spark refused it, or cannot plan it.
    """
    started = time.monotonic()
    with child_of(session, statement) as child:
        asked, applied = analyzed(session, child, statement)
        with session.tuple_scans.chosen(child, asked, statement.tuple_filters) as tuples:
            frame = session.rows.limited(in_arrow_types(asked), statement.row_limit + 1)
            session.small_queries.plan_once(frame)
            session.rows.is_short(frame, statement.row_limit)
            session.guard.allow_planned(frame)
            scans = session.scan_reader.read(frame, has_run=False)
            return EngineResult(
                rows=arrow_schema(frame.schema).empty_table(),
                columns=result_columns(asked.schema),
                is_truncated=False,
                planning_ms=milliseconds(started, time.monotonic()),
                running_ms=0,
                scans=scans,
                plan_text=lambda: shown_plan(frame, bool(applied)),
                planned_tables=lambda: session.planned_tables.read(frame),
                with_totals=lambda skipped: session.scan_reader.with_totals(frame, skipped),
                applied=applied,
                tuple_uses=tuples.uses() if statement.tuple_filters else frozenset(),
            )
