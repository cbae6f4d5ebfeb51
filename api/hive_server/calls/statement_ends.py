"""Waits for statements, counts how they end, and cancels those that nobody wants any more."""

from __future__ import annotations

from contextlib import suppress

from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.operations import Operation
from api.hive_server.calls.protocol_numbers import OperationType
from api.http.lane import stays
from api.sql_protocols.running_statement import POLL_S, RunningStatement, StatementStatus
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled
from service.model.query.query import QueryState

_OUTCOMES = {QueryState.SUCCEEDED: "succeeded", QueryState.CANCELED: "canceled"}


async def status_within(
    context: CallContext, operation: Operation, statement: RunningStatement, seconds: float
) -> StatementStatus:
    """Returns how a statement stands once it has ended, or after this time."""
    status = await context.in_thread(statement.status)
    if not status.is_final and seconds > 0:
        finished = context.access.gateway.queries.finished(statement.query_id)
        await context.waiting.until_finished(finished, seconds, stays)
        status = await context.in_thread(statement.status)
    if status.is_final:
        count_end(context, operation, _OUTCOMES.get(status.state, "failed"))
    return status


async def ended_status(
    context: CallContext, client: Client, operation: Operation, statement: RunningStatement
) -> StatementStatus:
    """Waits for the end of a statement, as long as its own timeout lets it run.

    Raises:
        QueryCanceled: the client has gone; the statement is canceled.
    """
    operation.is_waited_for = True
    try:
        while not (status := await status_within(context, operation, statement, POLL_S)).is_final:
            if client.is_gone():
                await context.in_thread(statement.cancel)
                raise QueryCanceled("The client has gone.")
        return status
    finally:
        operation.is_waited_for = False


async def end_operation(context: CallContext, operation: Operation) -> None:
    """Cancels an operation that was forgotten, unless it has ended."""
    statement = operation.statement
    if statement is None or operation.is_counted:
        return
    with suppress(GatewayError):
        status = await context.in_thread(statement.status)
        if status.is_final:
            count_end(context, operation, _OUTCOMES.get(status.state, "failed"))
            return
    count_end(context, operation, "canceled")
    with suppress(GatewayError):
        await context.in_thread(statement.cancel)


def count_end(context: CallContext, operation: Operation, outcome: str) -> None:
    """Counts the end of an operation, once."""
    if operation.is_counted:
        return
    operation.is_counted = True
    kind = "statement" if operation.type is OperationType.EXECUTE_STATEMENT else "metadata"
    context.metrics.ended(kind, outcome)
