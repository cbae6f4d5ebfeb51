"""Shortcuts for statements that an engine runs without a gateway."""

from __future__ import annotations

from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from service.errors.gateway_error import GatewayError
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameters
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.engine import SparkEngine


def run(engine: SparkEngine, sql: str, parameters: Parameters = ()) -> EngineResult:
    """Runs the statement as a query does, with all checks."""
    return engine.run(
        Statement(
            uuid4(), sql, parameters, None, None, 1000, 10**6, is_canceled=lambda: False, access=FULL_ACCESS
        )
    )


def code_of(engine: SparkEngine, sql: str) -> str:
    """Returns the code of the statement's error; empty if it has rows."""
    try:
        run(engine, sql)
    except GatewayError as failure:
        return failure.code
    return ""


def error_of(engine: SparkEngine, sql: str) -> str:
    """Returns the code of the statement's error and what it says; empty if it has rows."""
    try:
        run(engine, sql)
    except (GatewayError, PySparkException) as failure:
        return f"{getattr(failure, 'code', type(failure).__name__)} {failure}"[:300]
    return ""


def root_of(engine: SparkEngine) -> SparkSession:
    """Returns the session that runs commands without checks."""
    assert engine.session is not None
    return engine.session.children._root
