"""Spark's failures in the gateway's own terms: the cause, never the Java stack."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException

from service.errors import (
    ColumnNotFound,
    GatewayError,
    ParameterMissing,
    QueryFailed,
    ResultTooLarge,
    SqlInvalid,
    SqlSyntaxError,
    TableNotFound,
)

_POSITION = re.compile(r"\(?line (?P<line>\d+),? (?P<word>pos|position) (?P<position>\d+)\)?")
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")
# Where the sentence ends and Spark's aids for developers begin.
_AIDS = re.compile(r"\s*SQLSTATE: \w+|;?\n")
_CONDITION = re.compile(r"^\s*\[[A-Z0-9_.]+\]\s*")


def in_gateway_terms(failure: PySparkException | Py4JJavaError) -> GatewayError:
    """The error that the caller sees. It is returned, not raised, so that the cause can be chained."""
    if isinstance(failure, Py4JJavaError):
        return QueryFailed(sentence(_innermost_message(failure)))
    condition = failure.getCondition() or ""
    parameters = failure.getMessageParameters() or {}
    text = str(failure)
    line, column = position_in(text)
    if isinstance(failure, ParseException):
        return SqlSyntaxError(sentence(text), line, column)
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        return TableNotFound(unquoted(parameters.get("relationName", sentence(text))))
    if condition.startswith("UNRESOLVED_COLUMN"):
        nearest = [unquoted(each) for each in parameters.get("proposal", "").split(", ") if each]
        return ColumnNotFound(unquoted(parameters.get("objectName", "")), nearest[:3], line, column)
    if condition.startswith("UNBOUND_SQL_PARAMETER"):
        return ParameterMissing(f"The parameter {parameters.get('name', '')} has no value. Send one for it.")
    if isinstance(failure, AnalysisException) or condition in ("CATALOG_NOT_FOUND", "SCHEMA_NOT_FOUND"):
        return SqlInvalid(sentence(text))
    if "maxResultSize" in text:
        return ResultTooLarge()
    return QueryFailed(sentence(text))


def position_in(text: str) -> tuple[int | None, int | None]:
    r"""Line and column, both from 1, where Spark's message names them.

    Its `pos` counts from 0, its `position` from 1.

    >>> position_in("Syntax error at or near 'selec'. SQLSTATE: 42601 (line 2, pos 0)")
    (2, 1)
    >>> position_in("Division by zero.\n== SQL (line 1, position 8) ==")
    (1, 8)
    >>> position_in("no position")
    (None, None)
    """
    found = _POSITION.search(text)
    if found is None:
        return None, None
    return int(found["line"]), int(found["position"]) + (found["word"] == "pos")


def sentence(text: str) -> str:
    r"""What Spark says, without its codes, plans and stacks.

    >>> sentence("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==")
    'Division by zero.'
    """
    return _AIDS.split(_CONDITION.sub("", text, count=1), maxsplit=1)[0].strip() or "The query failed."


def unquoted(name: str) -> str:
    """A name as people write it.

    >>> unquoted("`lake`.`tpcds`.`item`")
    'lake.tpcds.item'
    """
    return _QUOTED.sub(lambda found: found[1].replace("``", "`"), name)


def _innermost_message(failure: Py4JJavaError) -> str:
    java_exception = failure.java_exception
    while (cause := java_exception.getCause()) is not None:
        java_exception = cause
    return str(java_exception.getMessage() or java_exception.getClass().getSimpleName())
