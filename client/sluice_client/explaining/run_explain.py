"""Asks for explanations: of a query that was sent, or of one that is only planned."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from sluice_client.calls import Flow, Request
from sluice_client.errors import UnexpectedAnswer
from sluice_client.explaining.explanation import Explanation, explanation_of
from sluice_client.query.query_request import QueryRequest
from sluice_client.retries import Context, retried


def explain_query(query_id: UUID, context: Context) -> Flow[Explanation]:
    """Returns what a query did. It may have failed, or still run.

    Raises:
        NotFound: there is no such query.
    """
    return explanation_of((yield from retried(_of_query(query_id, context), context)))


def explanation_page(query: UUID | QueryRequest, media_type: str, context: Context) -> Flow[bytes]:
    """Returns an explanation as the gateway writes it: JSON, text for people, or a page with a picture.

    Raises:
        NotFound: there is no such query.
        SqlInvalid: the text cannot be run.
        UnexpectedAnswer: the answer has another form.
    """
    request = _of_query(query, context) if isinstance(query, UUID) else _of_text(query, context)
    answer = yield from retried(replace(request, accept=media_type), context)
    if answer.media_type != media_type:
        raise UnexpectedAnswer(
            f"the explanation is {answer.media_type[:80]!r}, not {media_type}", status=answer.status
        )
    return answer.body


def explain_text(asked: QueryRequest, context: Context) -> Flow[Explanation]:
    """Returns what the query would do now. It is planned, and not run.

    Raises:
        SqlInvalid: the text cannot be run.
    """
    return explanation_of((yield from retried(_of_text(asked, context), context)))


def _of_query(query_id: UUID, context: Context) -> Request:
    return Request(method="GET", path=f"/explain/{query_id}", max_bytes=context.bounds.max_answer_bytes)


def _of_text(asked: QueryRequest, context: Context) -> Request:
    return Request(
        method="POST",
        path="/explain",
        body=asked.to_explain(),
        # Keys are collected, and the query is planned.
        wait_s=asked.timeout_s or context.timeouts.request_s,
        max_bytes=context.bounds.max_answer_bytes,
    )
