"""The functions that an answer to `select 1` passes through, in order, and the times between them."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measurement import Row, spread
from bench.stopwatch import Part, Stopwatch

_RUN = "spark_session.engine.run_statement"

WHOLE = "client"
TAKE_IN, VALIDATE, CHECK, ENGINE = "take in", "vet", "check parameters", "engine"
STORE, ANSWER = "keep the result", "write the answer"

PARTS = (
    Part(TAKE_IN, "service.query.query_service:QueryService.submit"),
    Part(VALIDATE, "service.query.execution.accepted_texts:AcceptedTexts.check"),
    Part(CHECK, "service.query.execution.run_query:check_parameters"),
    Part(ENGINE, "spark_session.engine.engine:SparkEngine.run"),
    Part("child session", "spark_session.session.child_sessions:ChildSessions._take", 1),
    Part("guard", "spark_session.session.guard:Guard.read", 1),
    Part("parse and analyse", "pyspark.sql:SparkSession.sql", 1),
    Part("types for Arrow", f"{_RUN}:in_arrow_types", 1),
    Part("limit", "spark_session.results.row_collector:RowCollector.limited", 1),
    Part("plan", "spark_session.results.row_collector:RowCollector.is_short", 1),
    Part("run and collect", "spark_session.results.row_collector:RowCollector.collect", 1),
    Part("columns", f"{_RUN}:result_columns", 1),
    Part("scan metrics", "spark_session.results.scan_metrics:ScanReader.read", 1),
    Part(STORE, "service.adapters.results.result_store:FolderResultStore.put"),
    Part(ANSWER, "api.http.routes.queries.query:query_response"),
    Part("after the answer: plan as text", f"{_RUN}:plan_text"),
)

BETWEEN = (
    ("HTTP in, validation", (WHOLE, "began"), (TAKE_IN, "began")),
    ("from event loop to worker", (TAKE_IN, "ended"), (VALIDATE, "began")),
    ("from worker to event loop to thread", (STORE, "ended"), (ANSWER, "began")),
    ("HTTP out", (ANSWER, "ended"), (WHOLE, "ended")),
)
"""Times outside of these functions, by the moments at which they begin and end."""


def part_rows(watch: Stopwatch) -> Iterator[Row]:
    """Yields a row for each part, then for the times between them."""
    for part in PARTS:
        if samples := watch.of(part.label):
            yield spread("part: " + "· " * part.depth + part.label, samples)
    for label, (after, after_edge), (before, before_edge) in BETWEEN:
        gaps = [
            (getattr(lap[before], before_edge) - getattr(lap[after], after_edge)) * 1000
            for lap in watch.laps
            if after in lap and before in lap
        ]
        if gaps:
            yield spread(f"part: between: {label}", gaps)
