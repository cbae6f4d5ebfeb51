"""A result's rows, chunk by chunk, in the format that the caller prefers."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import orjson
import structlog
from fastapi import APIRouter, Header, Path, Query, Response

from api.http.answers.known_tags import is_known
from api.http.answers.negotiation import choose
from api.http.answers.query_answer import chunk_wire, next_chunk_link
from api.http.answers.rows_headers import rows_headers
from api.http.app_context import Caller, CurrentAppContext
from api.http.rendering.formats import MEDIA_TYPES, render
from api.http.routes.documented import Responses, problems, success
from api.http.schemas.queries.query_answer import ChunkAnswer
from api.http.schemas.queries.query_request import ChunkQuery
from service.gateway import Gateway
from service.model.query.results import ResultFormat

router = APIRouter(tags=["query"])

_FORMATS = {media_type: result_format for result_format, media_type in MEDIA_TYPES.items()}
_TEXT, _BINARY = {"type": "string"}, {"type": "string", "format": "binary"}
_ROWS: dict[str, Any] = {
    "model": ChunkAnswer,
    "description": "JSON: one chunk. CSV: its rows, the header in chunk 0 alone, null as an empty field. "
    'Arrow: a complete IPC stream. The header Link has `rel="next"` until the last chunk. X-Row-Count has the'
    " number of rows of the whole result, and X-Truncated says whether a limit cut it.",
    "content": {
        MEDIA_TYPES[ResultFormat.CSV]: {"schema": _TEXT},
        MEDIA_TYPES[ResultFormat.ARROW_STREAM]: {"schema": _BINARY},
    },
}
_NOT_MODIFIED: Responses = {304: {"description": "If-None-Match has this chunk's ETag."}}


@router.head("/query/{query_id}/chunks/{index}", include_in_schema=False)
@router.get(
    "/query/{query_id}/chunks/{index}",
    responses=success(_ROWS) | _NOT_MODIFIED | problems(404, 406, 410, 422, 503),
    response_model=ChunkAnswer,
)
async def get_chunk(
    query_id: UUID,
    index: Annotated[int, Path(ge=0, le=2**31 - 1)],
    query: Annotated[ChunkQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
    if_none_match: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """One chunk, with the same bytes on every read until the result's time to live ends.

    `HEAD` has the headers alone, with the length of these bytes.
    """
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    gateway = app_context.access.gateway
    wanted = query.format or (await app_context.access.call(gateway.queries.status, query_id, caller)).format
    offered = [
        MEDIA_TYPES[wanted],
        *(media_type for media_type in _FORMATS if media_type != MEDIA_TYPES[wanted]),
    ]
    chosen = _FORMATS[choose(accept, offered)]
    return await app_context.access.call(_respond, gateway, query_id, index, caller, chosen, if_none_match)


def _respond(
    gateway: Gateway, query_id: UUID, index: int, caller: str, chosen: ResultFormat, known: str | None
) -> Response:
    found = gateway.queries.results.chunk(query_id, index, caller)
    # A chunk never changes, so its name is enough.
    tag = f'"{query_id}-{index}-{chosen.value}"'
    headers = {"ETag": tag, "Vary": "Accept", "Cache-Control": "private"} | rows_headers(found.manifest)
    link = next_chunk_link(query_id, found, chosen)
    if link is not None:
        headers["Link"] = f'<{link}>; rel="next"'
    if is_known(known, tag):
        return Response(status_code=304, headers=headers)
    if chosen is ResultFormat.JSON:
        content = orjson.dumps(chunk_wire(query_id, found))
    else:
        content = render(found.rows, chosen, is_first=index == 0)
    return Response(content, headers=headers, media_type=MEDIA_TYPES[chosen])
