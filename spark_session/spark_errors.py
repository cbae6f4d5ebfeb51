"""Translates Spark's failures into the gateway's own terms: the cause, never the Java stack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryFailed, ResultTooLarge
from service.errors.statement_errors import ColumnNotFound, ParameterMissing, SqlInvalid, SqlSyntaxError
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

# Exceptions by which Iceberg's catalogs report that their server or database does not answer.
CATALOG_FAILURES = frozenset(
    {
        "org.apache.iceberg.exceptions.RESTException",
        "org.apache.iceberg.exceptions.ServiceFailureException",
        "org.apache.iceberg.exceptions.ServiceUnavailableException",
        "org.apache.iceberg.hive.RuntimeMetaException",
        "org.apache.iceberg.jdbc.UncheckedSQLException",
    }
)
STACK_OVERFLOW = "java.lang.StackOverflowError"
_POSITION = re.compile(r"\(?line (?P<line>\d+),? (?P<word>pos|position) (?P<position>\d+)\)?")
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_PROPERTY = re.compile(r"\bspark\.\w+\.\w")
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")
# The end of the sentence, where Spark's aids for developers begin.
_AIDS = re.compile(r"\s*SQLSTATE: \w+|;?\n")
_MISSING_CATALOG = re.compile(r"^Catalog (\w+) could not be opened")
_UNKNOWN_CATALOG = re.compile(r"\[CATALOG_NOT_FOUND\] The catalog `([^`]+)`")
_CONDITION = re.compile(r"^\s*\[[A-Z0-9_.]+\]\s*")


def in_gateway_terms(failure: PySparkException | Py4JJavaError) -> GatewayError:
    """Returns the error that the caller sees. It is not raised, so that the cause can be chained."""
    if isinstance(failure, Py4JJavaError):
        return _of_java(causes_of(failure))
    condition = failure.getCondition() or ""
    parameters = failure.getMessageParameters() or {}
    text = str(failure)
    line, column = position_in(text)
    if isinstance(failure, ParseException):
        return SqlSyntaxError(sentence(text), line, column)
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        return TableNotFound(unquoted(parameters.get("relationName", sentence(text))))
    if condition.startswith("UNRESOLVED_COLUMN"):
        nearest = [unquoted(name) for name in parameters.get("proposal", "").split(", ") if name]
        return ColumnNotFound(unquoted(parameters.get("objectName", "")), nearest[:3], line, column)
    if condition.startswith("UNBOUND_SQL_PARAMETER"):
        return ParameterMissing(f"The parameter {parameters.get('name', '')} has no value. Send one for it.")
    if isinstance(failure, AnalysisException) or condition == "SCHEMA_NOT_FOUND":
        return _no_catalog(text) or SqlInvalid(sentence(text))
    return _of_task(text) or _no_catalog(text) or QueryFailed(sentence(text))


def _of_task(text: str) -> GatewayError | None:
    """Returns Spark's error for a job that it aborted."""
    if "maxResultSize" in text:
        return ResultTooLarge()
    return _too_deep() if STACK_OVERFLOW in text else None


def _of_java(causes: Sequence[JavaObject]) -> GatewayError:
    """Returns the error for a failure that Spark does not describe; the innermost cause says most."""
    classes = {cause.getClass().getName() for cause in causes}
    if classes & CATALOG_FAILURES:
        return CatalogDown(_which_catalog(causes))
    if STACK_OVERFLOW in classes:
        return _too_deep()
    text = str(causes[-1].getMessage() or causes[-1].getClass().getSimpleName())
    return _no_catalog(text) or QueryFailed(sentence(text))


def _too_deep() -> QueryFailed:
    return QueryFailed(
        "The query is too deep for the engine's stack: nest it less, or match shorter texts by its patterns."
    )


def _no_catalog(text: str) -> SqlInvalid | None:
    found = _UNKNOWN_CATALOG.search(text)
    if found is None:
        return None
    return SqlInvalid(f"There is no catalog {found[1]}. GET /tables lists the tables of all catalogs.")


def _which_catalog(causes: Sequence[JavaObject]) -> str:
    found = (_MISSING_CATALOG.search(str(cause.getMessage() or "")) for cause in causes)
    name = next((match_[1] for match_ in found if match_), None)
    if name is None:
        return "The catalog of a table in this query does not answer."
    return f"The engine cannot open the catalog {name}. /readyz and the log say why."


def position_in(text: str) -> tuple[int | None, int | None]:
    r"""Returns the line and column, both from 1, that Spark's message names.

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
    r"""Returns Spark's message without its codes, plans and stacks.

    Hints at properties of Spark are left out: no caller can set one.

    >>> sentence("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==")
    'Division by zero.'
    >>> sentence('Division by zero. Use `try_divide`. If necessary set "spark.sql.ansi.enabled" to "false".')
    'Division by zero. Use `try_divide`.'
    """
    said = _AIDS.split(_CONDITION.sub("", text, count=1), maxsplit=1)[0].strip()
    for_callers = (piece for piece in _SENTENCES.split(said) if not _PROPERTY.search(piece))
    return " ".join(for_callers).strip() or "The query failed."


def unquoted(name: str) -> str:
    """Returns a name as people write it.

    >>> unquoted("`lake`.`tpcds`.`item`")
    'lake.tpcds.item'
    """
    return _QUOTED.sub(lambda found: found[1].replace("``", "`"), name)


def causes_of(failure: PySparkException | Py4JJavaError) -> list[JavaObject]:
    """Returns the Java exception behind the failure and its causes, the innermost last; at least one.

    Raises:
        TypeError: there is no Java exception behind it.
    """
    origin = (
        failure.java_exception if isinstance(failure, Py4JJavaError) else getattr(failure, "_origin", None)
    )
    if origin is None:
        raise TypeError("the failure does not come from Java")
    causes = [origin]
    while (cause := causes[-1].getCause()) is not None:
        causes.append(cause)
    return causes
