"""The plan of a query as EXPLAIN shows it: after the same checks as for a run, and over the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from service.errors.statement_errors import StatementNotAllowed
from service.model.query.statement_text import query_text
from service.ports.engine.query_engine import Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.metadata.metadata_rows import Answer, answer_with
from spark_session.session.warm_session import WarmSession

EXPLAIN = "ExplainCommand"
HIDDEN_PLAN = "Policies restrict what this query reads, so its plans are not shown."
PLAN = StructType([StructField("plan", StringType(), nullable=False)])
# Generated code says nothing about a query that its plan does not, and making it takes long.
_MODES = frozenset({"SIMPLE", "EXTENDED", "FORMATTED", "COST"})


def explained(
    session: WarmSession, child: SparkSession, statement: Statement, found: Mapping[str, Any]
) -> Answer:
    """Returns the plan as one text. `found` is what the guard has read of the statement's text.

    A text that begins with EXPLAIN has its query after that word, whatever a caller of the engine has said.

    Raises:
        TableAccessDenied: its principal may not read a table.
        CallerError: it is not a query, or the mode is not one that is shown.
        PySparkException: Spark refused it, or cannot plan it.
    """
    parts: Mapping[str, Any] | None = found
    if statement.explain is None and found["nodes"][0] == EXPLAIN:
        text = query_text(statement.sql)
        statement, parts = replace(statement, sql=text.sql, explain=text.explain), None
    mode = statement.explain
    if mode not in _MODES:
        raise StatementNotAllowed(f"EXPLAIN has the modes {', '.join(sorted(_MODES))} here.")
    asked, applied = analyzed(session, child, statement, parts)
    # Before anything plans it: the plan that is shown is the one of a run.
    session.small_queries.plan_once(asked)
    session.guard.allow_planned(asked)
    if applied:
        return answer_with(PLAN, [(HIDDEN_PLAN,)], applied)
    show = session.jvm.gateway.jvm.org.apache.spark.sql.api.python.PythonSQLUtils.explainString
    text_of_plan = str(show(asked._jdf.queryExecution(), mode.lower()))
    return answer_with(PLAN, [(text_of_plan[: statement.byte_limit],)], applied)
