"""Sends a query, waits for its end, cancels it if nobody waits any more."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from sluice_client.calls import Flow, Request, milliseconds, pause, send
from sluice_client.error_classes import error_of
from sluice_client.errors import GatewayError, QueryFailed, SluiceError, TimedOut
from sluice_client.problems import explain_url
from sluice_client.query.query_answer import QueryStatus, query_status
from sluice_client.query.query_request import QueryRequest
from sluice_client.reported_problem import Problem
from sluice_client.retries import Context, is_transient, retried

Watch = Callable[[QueryStatus], None]
"""Is called with each state that the gateway reports."""
_FIRST_WAIT_S = 2.0
"""Short, so that the client soon knows the id of a query that takes long."""
_WATCHED_WAIT_S = 1.0
_SHORTEST_LOOK_S = 0.1
_MAX_WAIT_S = 50.0
"""No gateway takes a longer wait."""
_UNKNOWN_THERE = frozenset({404, 405})


def run_query(asked: QueryRequest, context: Context, watch: Watch | None = None) -> Flow[QueryStatus]:
    """Returns the state of a query that has succeeded, and whose rows are there.

    If the wait is interrupted, or takes longer than `Timeouts.query_s`, the query is canceled.

    Raises:
        SluiceError: the query failed, or could not be sent.
        TimedOut: it did not end in time.
    """
    runs_left = context.retries.attempts
    while True:
        runs_left -= 1
        status = yield from _run_once(asked, context, watch)
        if status.error is None or not _runs_again(status.error) or runs_left <= 0:
            return succeeded(status, context, asked.request_id)


def submit_query(asked: QueryRequest, context: Context) -> Flow[QueryStatus]:
    """Sends a query without waiting for its end.

    Raises:
        SluiceError: it could not be sent, or failed at once.
    """
    return (yield from _post(asked, context, wait_s=0))


def await_query(
    query_id: UUID, request_id: UUID | None, context: Context, watch: Watch | None = None
) -> Flow[QueryStatus]:
    """Returns the state of a query that was sent before, once it has succeeded.

    Raises:
        SluiceError: the query failed.
        TimedOut: it did not end in time. It goes on.
    """
    status = yield from get_query(query_id, request_id, context)
    status = yield from _final(status, request_id, context, watch)
    return succeeded(status, context, request_id)


def get_query(
    query_id: UUID, request_id: UUID | None, context: Context, wait_s: float = 0
) -> Flow[QueryStatus]:
    """Returns the state of a query; with `wait_s`, as soon as it is final."""
    request = Request(
        method="GET",
        path=f"/query/{query_id}",
        parameters={"waitTimeout": milliseconds(wait_s), "format": "ARROW_STREAM"},
        wait_s=wait_s,
        max_bytes=context.bounds.max_answer_bytes,
    )
    answer = yield from retried(request, context, request_id)
    return query_status(answer, context.base_url, request_id)


def cancel_query(query_id: UUID, context: Context) -> Flow[None]:
    """Cancels a query if it has not ended."""
    yield from retried(_cancellation(query_id, context), context)


def cancel_request(request_id: UUID, context: Context) -> Flow[None]:
    """Cancels the query that was sent under this id, if it has not ended."""
    yield from retried(_request_cancellation(request_id, context), context)


def succeeded(status: QueryStatus, context: Context, request_id: UUID | None) -> QueryStatus:
    """Returns the status of a query that has succeeded and has its rows.

    Raises:
        GatewayError: it did not succeed, or its rows are gone.
    """
    if status.error is not None:
        raise status.error
    if status.state == "SUCCEEDED" and status.manifest is not None:
        return status
    gone = ("RESULT_EXPIRED", "The query succeeded, but its rows are not here any more. Run it again.")
    canceled = ("QUERY_CANCELED", "The query was canceled, so it has no result.")
    failed = ("QUERY_FAILED", "The query failed, and the gateway does not say why.")
    code, detail = {"SUCCEEDED": gone, "CANCELED": canceled}.get(status.state, failed)
    url = explain_url(context.base_url, status.query_id)
    raise error_of(
        Problem(code=code, detail=detail, query_id=status.query_id, request_id=request_id, explain_url=url)
    )


def _run_once(asked: QueryRequest, context: Context, watch: Watch | None) -> Flow[QueryStatus]:
    query_id: UUID | None = None
    first_s = _FIRST_WAIT_S if watch is None else _WATCHED_WAIT_S
    wait_s = min(first_s, context.timeouts.poll_s)
    try:
        status = yield from _post(asked, context, wait_s)
        query_id = status.query_id
        return (yield from _final(status, asked.request_id, context, watch))
    except (GatewayError, GeneratorExit):
        raise
    except BaseException:
        # Ctrl-C, a canceled task, a lost connection: nobody will read the rows.
        yield from _cancel_quietly(asked, query_id, context)
        raise


def _post(asked: QueryRequest, context: Context, wait_s: float) -> Flow[QueryStatus]:
    request = Request(
        method="POST",
        path="/query",
        body=asked.to_run(wait_s),
        wait_s=wait_s,
        max_bytes=context.bounds.max_answer_bytes,
    )
    answer = yield from retried(request, context, asked.request_id)
    return query_status(answer, context.base_url, asked.request_id)


def _final(
    status: QueryStatus, request_id: UUID | None, context: Context, watch: Watch | None
) -> Flow[QueryStatus]:
    deadline = context.now() + context.timeouts.query_s
    while not status.is_final:
        if watch is not None:
            watch(status)
        left_s = deadline - context.now()
        if left_s <= 0:
            raise TimedOut(
                f"the query {status.query_id} did not end within {context.timeouts.query_s:g} s",
                query_id=status.query_id,
            )
        longest_s = _MAX_WAIT_S if watch is None else _WATCHED_WAIT_S
        wait_s = min(longest_s, context.timeouts.poll_s, left_s)
        asked_at = context.now()
        status = yield from get_query(status.query_id, request_id, context, wait_s)
        if not status.is_final and context.now() - asked_at < _SHORTEST_LOOK_S:
            # A gateway that stops, or a proxy, may answer without the wait.
            yield from pause(_SHORTEST_LOOK_S)
    return status


def _runs_again(error: GatewayError) -> bool:
    return isinstance(error, QueryFailed) and is_transient(error, is_repeatable=True)


def _cancel_quietly(asked: QueryRequest, query_id: UUID | None, context: Context) -> Flow[None]:
    try:
        if query_id is not None:
            yield from send(_cancellation(query_id, context))
            return
        # The answer with the id did not come.
        answer = yield from send(_request_cancellation(asked.request_id, context))
        if answer.status in _UNKNOWN_THERE:
            # The query has not arrived, or the gateway is of an earlier version. The same requestId is the
            # same query, which begins and is canceled, so the first request finds it canceled.
            yield from send(
                Request(
                    method="POST",
                    path="/query",
                    body=asked.to_run(0, is_canceled_after=True),
                    max_bytes=context.bounds.max_answer_bytes,
                    answer_s=context.timeouts.cancel_s,
                )
            )
    except SluiceError:
        # The gateway ends the query at its own timeout.
        return


def _request_cancellation(request_id: UUID, context: Context) -> Request:
    return Request(
        method="DELETE",
        path="/query",
        parameters={"requestId": str(request_id)},
        max_bytes=context.bounds.max_answer_bytes,
        answer_s=context.timeouts.cancel_s,
    )


def _cancellation(query_id: UUID, context: Context) -> Request:
    return Request(
        method="DELETE",
        path=f"/query/{query_id}",
        max_bytes=context.bounds.max_answer_bytes,
        answer_s=context.timeouts.cancel_s,
    )
