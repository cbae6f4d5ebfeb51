"""Sends records, and waits for their commit."""

from __future__ import annotations

from uuid import UUID

from sluice_client.calls import Body, Flow, Request, milliseconds, pause
from sluice_client.errors import TimedOut
from sluice_client.ingest.ingest_answer import IngestResult, ingest_failure, ingest_result
from sluice_client.ingest.ingest_request import IngestRequest
from sluice_client.retries import Context, retried

_FIRST_LOOK_S, _LAST_LOOK_S = 0.2, 5.0
_MAX_WAIT_S = 50.0
"""No gateway takes a longer wait."""


def run_ingest(asked: IngestRequest, body: Body, context: Context) -> Flow[IngestResult]:
    """Returns the ingest once it is committed, or once it is accepted if no more was asked for.

    Retries send the same `requestId`, so the records are written once.

    Raises:
        GatewayError: nothing was written, or the commit of an accepted ingest failed.
        TimedOut: the commit did not come in time. It will come.
    """
    try:
        request = Request(
            method="POST",
            path="/ingest",
            parameters=asked.parameters(),
            body=body,
            # The gateway answers when it has written all files, and has waited for the commit.
            wait_s=context.timeouts.commit_s,
            max_bytes=context.bounds.max_answer_bytes,
        )
        answer = yield from retried(request, context, asked.request_id)
        result = ingest_result(answer, asked.request_id)
        if asked.wait == "COMMITTED":
            result = yield from await_commit(result, context)
        return result
    finally:
        body.close()


def await_commit(result: IngestResult, context: Context) -> Flow[IngestResult]:
    """Returns an ingest that was accepted, once it is committed.

    Raises:
        IngestFailed: the commit failed for at least one of its tables.
        TimedOut: the commit did not come in time. It will come.
    """
    deadline = context.now() + context.timeouts.commit_s
    look_s = _FIRST_LOOK_S
    while result.state == "ACCEPTED":
        left_s = deadline - context.now()
        if left_s <= look_s:
            raise TimedOut(
                f"the ingest {result.ingest_id} is accepted, and not committed yet. It will be: do not"
                " send it again",
                ingest_id=result.ingest_id,
            )
        asked_at = context.now()
        wait_s = min(context.timeouts.poll_s, _MAX_WAIT_S, left_s)
        result = yield from get_ingest(result.ingest_id, context, result.request_id, wait_s)
        if result.state == "ACCEPTED" and context.now() - asked_at < wait_s / 2:
            # A gateway that stops, or one of an earlier version, answers without the wait.
            yield from pause(look_s)
            look_s = min(look_s * 2, _LAST_LOOK_S)
    if result.state == "FAILED":
        raise ingest_failure(result)
    return result


def get_ingest(
    ingest_id: UUID, context: Context, request_id: UUID | None = None, wait_s: float = 0
) -> Flow[IngestResult]:
    """Returns an ingest as it is now; with `wait_s`, once nothing of it waits. A failed one is returned, too.

    Raises:
        NotFound: there is no such ingest.
    """
    request = Request(
        method="GET",
        path=f"/ingest/{ingest_id}",
        parameters={"waitTimeout": milliseconds(wait_s)} if wait_s > 0 else {},
        wait_s=wait_s,
        max_bytes=context.bounds.max_answer_bytes,
    )
    return ingest_result((yield from retried(request, context, request_id)), request_id)
