"""Asks for explanations: of a query that was sent, or of one that is only planned."""

from __future__ import annotations

from uuid import UUID

from sluice_client.calls import Flow, Request
from sluice_client.explaining.explanation import Explanation, explanation_of
from sluice_client.query.query_request import QueryRequest
from sluice_client.retries import Context, retried


def explain_query(query_id: UUID, context: Context) -> Flow[Explanation]:
    """Returns what a query did. It may have failed, or still run.

    Raises:
        NotFound: there is no such query.
    """
    request = Request(method="GET", path=f"/explain/{query_id}", max_bytes=context.bounds.max_answer_bytes)
    return explanation_of((yield from retried(request, context)))


def explain_text(asked: QueryRequest, context: Context) -> Flow[Explanation]:
    """Returns what the query would do now. It is planned, and not run.

    Raises:
        SqlInvalid: the text cannot be run.
    """
    request = Request(
        method="POST",
        path="/explain",
        body=asked.to_explain(),
        # Keys are collected, and the query is planned.
        wait_s=asked.timeout_s or context.timeouts.request_s,
        max_bytes=context.bounds.max_answer_bytes,
    )
    return explanation_of((yield from retried(request, context)))
