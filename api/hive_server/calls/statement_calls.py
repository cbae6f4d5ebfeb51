"""Executes statements, tells how they stand, and cancels and closes them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pyarrow as pa

from api.hive_server.calls.client import Client
from api.hive_server.calls.client_configuration import settings_of
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.operations import Operation
from api.hive_server.calls.protocol_numbers import (
    NO_PROGRESS_TABLE,
    V9,
    OperationState,
    OperationType,
)
from api.hive_server.calls.session_handles import SessionHandle, read_handle
from api.hive_server.calls.statement_ends import count_end, end_operation, ended_status, status_within
from api.hive_server.calls.statement_words import is_show_tables, is_use_default
from api.hive_server.calls.statuses import OK, failed, failed_operation
from api.hive_server.rows.result_rows import rows_of_table
from api.sql_protocols.running_statement import POLL_S, StatementStatus
from api.sql_protocols.sessions import DEFAULT
from api.sql_protocols.statement_runs import StatementRequest
from service.errors.query_errors import QueryNotFound, QueryTimedOut
from service.errors.session_errors import SessionSettingRefused
from service.model.query.query import QueryState

NO_COLUMNS = pa.schema([("Result", pa.string())])
"""The columns of a statement that returns none: each statement has a result here."""
_STATES = {
    QueryState.QUEUED: OperationState.PENDING,
    QueryState.RUNNING: OperationState.RUNNING,
    QueryState.SUCCEEDED: OperationState.FINISHED,
    QueryState.FAILED: OperationState.ERROR,
    QueryState.CANCELED: OperationState.CANCELED,
}


async def execute_statement(
    context: CallContext, client: Client, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Starts a statement; without `runAsync`, answers after its end.

    Raises:
        SessionSettingRefused: the statement has settings of its own.
        GatewayError: it was not accepted.
    """
    session = read_handle(request, client.caller.name)
    context.operations.check_room(session.session_id)
    if settings_of(request.get("confOverlay") or {}):
        raise SessionSettingRefused("Set settings for the session, not for one statement.")
    sql = request.get("statement", "")
    if is_use_default(sql):
        return await _use_default(context, client, session)
    operation_id = uuid4()
    asked = StatementRequest(
        sql=sql,
        session_id=session.session_id,
        timeout_s=request.get("queryTimeout") or 0,
        operation_id=operation_id,
    )
    statement = await context.in_thread(context.parts.statements.start, client.caller, asked)
    operation = Operation(
        operation_id,
        client.caller.name,
        session,
        OperationType.EXECUTE_STATEMENT,
        statement,
        place=context.kept_chunks.place(),
    )
    operation.log_lines.append(f"Query {statement.query_id}")
    if session.is_plain and context.settings.hive_short_show_tables and is_show_tables(sql):
        operation.projection = _names_only
    context.operations.add(operation)
    if not request.get("runAsync"):
        status = await ended_status(context, client, operation, statement)
        if status.failure is not None:
            context.operations.remove(operation)
            return {"status": failed(status.failure)}
    return {"status": OK, "operationHandle": operation.handle()}


async def get_operation_status(
    context: CallContext, client: Client, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Tells how an operation stands; waits up to a second for its end, so that clients need not ask often."""
    operation = context.operations.find(request, client.caller.name)
    statement = operation.statement
    if statement is None:
        return {"status": OK, "operationState": OperationState.FINISHED, "hasResultSet": True}
    status = await status_within(context, operation, statement, POLL_S)
    answer: dict[str, Any] = {
        "status": OK,
        "operationState": _state(status, operation.session.protocol),
        "hasResultSet": True,
    }
    if status.failure is not None:
        answer |= failed_operation(status.failure)
    if request.get("getProgressUpdate"):
        answer["progressUpdateResponse"] = _progress(status)
    return answer


async def cancel_operation(
    context: CallContext, client: Client, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Asks a statement to end. Does nothing if it has ended, or was forgotten."""
    with suppress(QueryNotFound):
        operation = context.operations.find(request, client.caller.name)
        if operation.statement is not None:
            await context.in_thread(operation.statement.cancel)
    return {"status": OK}


async def close_operation(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Forgets an operation, and cancels it if it runs. Does nothing if it was forgotten."""
    with suppress(QueryNotFound):
        operation = context.operations.find(request, client.caller.name)
        context.operations.remove(operation)
        await end_operation(context, operation)
    return {"status": OK}


async def get_query_id(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Tells the id of the query, as the gateway's history and its explanations have it."""
    operation = context.operations.find(request, client.caller.name)
    found = operation.operation_id if operation.statement is None else operation.statement.query_id
    return {"queryId": str(found)}


async def _use_default(context: CallContext, client: Client, session: SessionHandle) -> dict[str, Any]:
    sessions = context.parts.sessions
    await context.in_thread(sessions.use, client.caller, session.session_id, None, DEFAULT)
    rows = rows_of_table(NO_COLUMNS.empty_table())
    operation = Operation(uuid4(), client.caller.name, session, OperationType.EXECUTE_STATEMENT, rows=rows)
    count_end(context, context.operations.add(operation), "succeeded")
    return {"status": OK, "operationHandle": operation.handle()}


def _state(status: StatementStatus, protocol: int) -> OperationState:
    timed_out = status.failure is not None and status.failure.code == QueryTimedOut.code
    # Older clients know no such state.
    return OperationState.TIMEDOUT if timed_out and protocol >= V9 else _STATES[status.state]


def _progress(status: StatementStatus) -> dict[str, Any]:
    percent = 100 if status.is_final else (status.progress.percent if status.progress else 0)
    return {
        "headerNames": [],
        "rows": [],
        "progressedPercentage": percent / 100,
        "status": NO_PROGRESS_TABLE,
        "footerSummary": "",
        "startTime": 0,
    }


def _names_only(rows: pa.Table) -> pa.Table:
    """Returns the names of SHOW TABLES under the name that Hive gives them."""
    if "tableName" not in rows.column_names:
        return rows
    return rows.select(["tableName"]).rename_columns(["tab_name"])
