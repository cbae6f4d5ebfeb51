"""The exception class of each code of a gateway. Other codes have the class of their status."""

from __future__ import annotations

from collections.abc import Mapping

from sluice_client.errors import (
    GatewayError,
    GatewayFault,
    IngestFailed,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    QueryCanceled,
    QueryFailed,
    QueryTimedOut,
    RecordsInvalid,
    RequestIdReused,
    RequestInvalid,
    ResultExpired,
    SchemaInvalid,
    SessionExpired,
    SqlInvalid,
    TooBusy,
    Unavailable,
)
from sluice_client.reported_problem import Problem

BY_CODE: Mapping[str, type[GatewayError]] = {
    **dict.fromkeys(
        (
            *("SQL_TOO_LARGE", "SQL_EMPTY", "SQL_TOO_DEEP", "SQL_MANY_STATEMENTS", "SQL_SYNTAX"),
            *("SQL_INVALID", "QUERY_TOO_LARGE", "READ_OPTION_INVALID", "COLUMN_NOT_FOUND"),
            *("PARAMETER_MISSING", "PARAMETER_UNUSED", "PARAMETER_INVALID", "TABLE_AMBIGUOUS"),
        ),
        SqlInvalid,
    ),
    **dict.fromkeys(
        (
            *("QUERY_FAILED", "RESULT_TOO_LARGE", "VERIFICATION_FAILED", "ENGINE_LOST", "REPLICA_LOST"),
            *("COMMIT_CONFLICT", "WRITE_FAILED", "WRITE_OUTCOME_UNKNOWN"),
        ),
        QueryFailed,
    ),
    "QUERY_TIMED_OUT": QueryTimedOut,
    "QUERY_CANCELED": QueryCanceled,
    "RESULT_EXPIRED": ResultExpired,
    "SESSION_NOT_FOUND": SessionExpired,
    "REQUEST_ID_REUSED": RequestIdReused,
    "RECORDS_INVALID": RecordsInvalid,
    **dict.fromkeys(("WRITE_SCHEMA_INVALID", "SCHEMA_MISMATCH", "CREATION_INVALID"), SchemaInvalid),
    **dict.fromkeys(("TABLE_CHANGED", "UPSERT_NOT_POSSIBLE", "COMMITTABLE_UNREADABLE"), IngestFailed),
}
IN_STATE: Mapping[str, type[GatewayError]] = {
    "TABLE_NOT_FOUND": NotFound,
    "SESSION_VIEW_NOT_FOUND": NotFound,
    "CACHE_NOT_FOUND": NotFound,
    **dict.fromkeys(
        ("SQL_WRITES_OFF", "STATEMENT_NOT_ALLOWED", "TABLE_ACCESS_DENIED", "VIEW_CHANGED"), NotAllowed
    ),
    **dict.fromkeys(
        ("SESSION_REQUIRED", "SESSION_SETTING_REFUSED", "SESSION_TOO_LARGE", "TABLE_UNREADABLE"),
        RequestInvalid,
    ),
    **dict.fromkeys(("QUOTA_EXHAUSTED", "TOO_MANY_QUERIES"), TooBusy),
    **dict.fromkeys(
        (
            *("CATALOG_DOWN", "ENGINE_NOT_READY", "FILTER_CACHE_DOWN", "GATEWAY_BUSY", "METRICS_STORE_DOWN"),
            *("PART_DOWN", "POLICIES_DOWN", "QUERY_QUARANTINED", "SHUTTING_DOWN", "STORAGE_DOWN"),
        ),
        Unavailable,
    ),
}
"""Codes of queries that were accepted: their errors are found in a state, which has no HTTP status."""
BY_STATUS: Mapping[int, type[GatewayError]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    429: TooBusy,
    503: Unavailable,
}


def class_of(problem: Problem) -> type[GatewayError]:
    """Returns the class of a problem.

    >>> class_of(Problem(code="SQL_SYNTAX", detail="", status=422)).__name__
    'SqlInvalid'
    >>> class_of(Problem(code="A_NEW_ONE", detail="", status=503)).__name__
    'Unavailable'
    >>> class_of(Problem(code="TABLE_NOT_FOUND", detail="")).__name__
    'NotFound'
    """
    if problem.code in BY_CODE:
        return BY_CODE[problem.code]
    if problem.ingest_id is not None:
        return IngestFailed
    if problem.status is None and problem.code in IN_STATE:
        return IN_STATE[problem.code]
    status = problem.status or 500
    by_class = RequestInvalid if 400 <= status < 500 else GatewayFault
    return BY_STATUS.get(status, by_class)


def error_of(problem: Problem) -> GatewayError:
    """Returns the exception for a problem."""
    return class_of(problem)(problem)
