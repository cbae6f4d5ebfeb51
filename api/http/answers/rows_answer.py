"""A query's first rows alone, if Accept asks for rows. Everything here may block."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from api.http.answers.negotiation import choose
from api.http.answers.query_answer import Answered, answer, next_chunk_link
from api.http.answers.rows_headers import rows_headers
from api.http.rendering.formats import MEDIA_TYPES, render
from service.errors.query_errors import ResultExpired
from service.gateway import Gateway
from service.model.query.results import ResultFormat

_FORMATS = {media_type: result_format for result_format, media_type in MEDIA_TYPES.items()}


def accepted_format(accept: str | None) -> ResultFormat:
    """Returns the accepted format: JSON for the common shape of answer, another for rows alone.

    Raises:
        NotAcceptable: the caller takes none of them.
    """
    return _FORMATS[choose(accept, list(_FORMATS))]


def query_response(
    gateway: Gateway,
    query_id: UUID,
    caller: str,
    wanted: ResultFormat | None,
    accepted: ResultFormat,
    was_sent_before: bool = False,
) -> tuple[Answered, Response]:
    """Returns the query's state as JSON, or its first rows if they are there and Accept asks for rows.

    `wanted` is the format of links, and of rows in the JSON answer. It defaults to the query's own.

    Raises:
        QueryNotFound: this caller has no such query.
    """
    rows_format = wanted if accepted is ResultFormat.JSON else accepted
    answered = answer(gateway, query_id, caller, rows_format, was_sent_before)
    code = 200 if answered.status.record.state.is_final else 202
    headers = {"Vary": "Accept", "X-Query-Id": str(query_id)}
    if accepted is not ResultFormat.JSON and answered.status.manifest and answered.status.manifest.chunks:
        try:
            return answered, _rows(gateway, query_id, caller, accepted, headers)
        except ResultExpired:
            # The result expired between the two calls.
            answered = answer(gateway, query_id, caller, rows_format, was_sent_before)
    return answered, Response(answered.body, code, headers, "application/json")


def _rows(
    gateway: Gateway, query_id: UUID, caller: str, accepted: ResultFormat, headers: dict[str, str]
) -> Response:
    found = gateway.queries.results.chunk(query_id, 0, caller)
    link = next_chunk_link(query_id, found, accepted)
    more = {} if link is None else {"Link": f'<{link}>; rel="next"'}
    headers = headers | rows_headers(found.manifest) | more
    return Response(render(found.rows, accepted), 200, headers, MEDIA_TYPES[accepted])
