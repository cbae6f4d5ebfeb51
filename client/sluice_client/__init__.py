"""A Python client for Sluice, the query gateway for lakehouses.

Begin with `connect(url)`. `connect_async(url)` is its async twin, and `sluice_client.dbapi` is DB-API 2.0.
Each name is imported when it is first used, so that the command line starts without Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sluice_client.async_connection import AsyncConnection, connect_async
    from sluice_client.connection import Connection, connect
    from sluice_client.errors import (
        AnswerTooLarge,
        ConnectionClosed,
        ConnectionFailed,
        DataNotSupported,
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
        ResultTruncated,
        SchemaInvalid,
        SessionExpired,
        SluiceError,
        SqlInvalid,
        TimedOut,
        TooBusy,
        Unavailable,
        UnexpectedAnswer,
        ValueOutOfRange,
    )
    from sluice_client.explaining.explanation import Explanation
    from sluice_client.ingest.ingest_answer import IngestResult
    from sluice_client.listing.catalogs import SchemaList
    from sluice_client.listing.description import QueryDescription
    from sluice_client.listing.tables import TableDescription, TableList
    from sluice_client.query.query_answer import QueryStatus
    from sluice_client.query.queue_place import QueuePlace, Reused
    from sluice_client.reported_problem import Fault
    from sluice_client.results.async_result import AsyncResult
    from sluice_client.results.result import Result
    from sluice_client.session_calls import SessionState
    from sluice_client.sessions.async_session import AsyncSession
    from sluice_client.sessions.session import Session
    from sluice_client.settings import Bounds, RetryPolicy, Timeouts

__all__ = [
    "AnswerTooLarge",
    "AsyncConnection",
    "AsyncResult",
    "AsyncSession",
    "Bounds",
    "Connection",
    "ConnectionClosed",
    "ConnectionFailed",
    "DataNotSupported",
    "Explanation",
    "Fault",
    "GatewayError",
    "GatewayFault",
    "IngestFailed",
    "IngestResult",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "QueryCanceled",
    "QueryDescription",
    "QueryFailed",
    "QueryStatus",
    "QueryTimedOut",
    "QueuePlace",
    "RecordsInvalid",
    "RequestIdReused",
    "RequestInvalid",
    "Result",
    "ResultExpired",
    "ResultTruncated",
    "RetryPolicy",
    "Reused",
    "SchemaInvalid",
    "SchemaList",
    "Session",
    "SessionExpired",
    "SessionState",
    "SluiceError",
    "SqlInvalid",
    "TableDescription",
    "TableList",
    "TimedOut",
    "Timeouts",
    "TooBusy",
    "Unavailable",
    "UnexpectedAnswer",
    "ValueOutOfRange",
    "connect",
    "connect_async",
]

_ELSEWHERE = {
    "AsyncConnection": "async_connection",
    "AsyncResult": "results.async_result",
    "AsyncSession": "sessions.async_session",
    "Bounds": "settings",
    "Connection": "connection",
    "Explanation": "explaining.explanation",
    "Fault": "reported_problem",
    "IngestResult": "ingest.ingest_answer",
    "QueryDescription": "listing.description",
    "QueryStatus": "query.query_answer",
    "QueuePlace": "query.queue_place",
    "Result": "results.result",
    "RetryPolicy": "settings",
    "Reused": "query.queue_place",
    "SchemaList": "listing.catalogs",
    "Session": "sessions.session",
    "SessionState": "session_calls",
    "TableDescription": "listing.tables",
    "TableList": "listing.tables",
    "Timeouts": "settings",
    "connect": "connection",
    "connect_async": "async_connection",
}
"""The modules of names that are not exceptions."""


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("sluice_client.errors")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"sluice_client.{_ELSEWHERE.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
