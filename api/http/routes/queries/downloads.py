"""A whole result in one answer, as a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

import pyarrow as pa
import structlog
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from api.http.answers.byte_ranges import asks_for_part
from api.http.answers.cut_off import cut_off_at_failure
from api.http.answers.head_answer import head_answer
from api.http.answers.known_tags import is_known
from api.http.answers.negotiation import choose, choose_coding
from api.http.answers.rows_headers import rows_headers
from api.http.app_context import AppContext, Caller, CurrentAppContext
from api.http.rendering.content_codings import Coder, ContentCoding, coder_of
from api.http.rendering.download_formats import (
    EXTENSIONS,
    MEDIA_TYPES,
    DownloadFormat,
    FileWriter,
    FormatUnfit,
    writer_of,
)
from api.http.routes.documented import Responses, problems, success
from api.http.routes.queries.parquet_files import NAME, parquet_file, unfit_for
from api.http.routes.queries.stored_bytes import stored_bytes
from api.http.schemas.queries.query_request import DownloadQuery
from service.model.query.results import ResultFormat
from service.ports.stores.result_files import StoredFile
from service.query.lookup.query_results import ResultChunk, ResultFile

router = APIRouter(tags=["query"])

_FORMATS = {media_type: download_format for download_format, media_type in MEDIA_TYPES.items()}
_LIKE = {
    ResultFormat.JSON: DownloadFormat.JSON_LINES,
    ResultFormat.CSV: DownloadFormat.CSV,
    ResultFormat.ARROW_STREAM: DownloadFormat.ARROW_STREAM,
}
_TEXT, _BINARY = {"type": "string"}, {"type": "string", "format": "binary"}
_FILE: Responses = success(
    {
        "description": "All rows, in the order of the result. X-Row-Count has their number, and X-Truncated"
        " says whether a limit cut the result. An answer that ends early is cut off, and not complete.",
        "content": {
            MEDIA_TYPES[DownloadFormat.JSON_LINES]: {"schema": _TEXT},
            MEDIA_TYPES[DownloadFormat.CSV]: {"schema": _TEXT},
            MEDIA_TYPES[DownloadFormat.ARROW_STREAM]: {"schema": _BINARY},
            MEDIA_TYPES[DownloadFormat.PARQUET]: {"schema": _BINARY},
        },
    }
)
_PART: Responses = {
    206: {
        "description": "The bytes that Range asks for, of a Parquet file or of an Arrow stream without"
        " Content-Encoding.",
        "content": {
            MEDIA_TYPES[DownloadFormat.ARROW_STREAM]: {"schema": _BINARY},
            MEDIA_TYPES[DownloadFormat.PARQUET]: {"schema": _BINARY},
        },
    }
}
_NOT_MODIFIED: Responses = {304: {"description": "If-None-Match has this result's ETag."}}


@router.head("/query/{query_id}/result", include_in_schema=False)
@router.get(
    "/query/{query_id}/result",
    responses=_FILE | _PART | _NOT_MODIFIED | problems(404, 406, 410, 416, 422, 503),
    response_class=StreamingResponse,
)
async def download_result(
    query_id: UUID,
    query: Annotated[DownloadQuery, Query()],
    request: Request,
    app_context: CurrentAppContext,
    caller: Caller,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
    accept_encoding: Annotated[str | None, Header(include_in_schema=False)] = None,
    if_none_match: Annotated[str | None, Header(include_in_schema=False)] = None,
    range_: Annotated[str | None, Header(alias="Range", include_in_schema=False)] = None,
    if_range: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """The whole result as one file, compressed if the client accepts zstd or gzip.

    The gateway reads it piece by piece, so its size takes no memory. It can be read again until the result's
    time to live ends. `Range` asks for a part of a Parquet file, or of an Arrow stream: such a request gets
    the stream uncompressed. `HEAD` has the headers alone, with the length of these two. The first request of
    either kind for a Parquet file waits until it is written.
    """
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    access = app_context.access
    found = await access.call(access.gateway.queries.results.file, query_id, caller, NAME)
    download_format = _chosen(query.format or _LIKE[found.format], accept)
    is_head = request.method == "HEAD"
    # HEAD has no parts (RFC 9110, section 14.2).
    range_ = None if is_head else range_
    coding = _coding(download_format, accept_encoding, is_part=range_ is not None)
    headers = _headers(query_id, found, download_format, coding)
    if is_known(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    media_type = MEDIA_TYPES[download_format]
    needs_length = is_head or asks_for_part(range_, if_range, headers["ETag"])
    stored = await _stored(app_context, query_id, caller, found, download_format, coding, needs_length)
    if is_head:
        return _head(headers, media_type, stored)
    if stored is not None:
        return await stored_bytes(access, stored, headers, media_type, range_, if_range)
    # The first chunk is read before the answer begins, so that its failure is a problem.
    first = await _chunk(app_context, query_id, 0, caller)
    writer, coder = writer_of(download_format), coder_of(coding)
    beginning = await access.call(_begin, writer, coder, first.rows)
    parts = _parts(app_context, query_id, caller, first, writer, coder, beginning)
    return StreamingResponse(cut_off_at_failure(parts), headers=headers, media_type=media_type)


def _coding(download_format: DownloadFormat, accept_encoding: str | None, is_part: bool) -> ContentCoding:
    # A part of compressed bytes would need all bytes before it to be compressed again.
    is_plain = is_part and download_format is DownloadFormat.ARROW_STREAM
    is_compressed = download_format is DownloadFormat.PARQUET
    return ContentCoding.IDENTITY if is_plain or is_compressed else choose_coding(accept_encoding)


async def _stored(
    app_context: AppContext,
    query_id: UUID,
    caller: str,
    found: ResultFile,
    download_format: DownloadFormat,
    coding: ContentCoding,
    needs_length: bool,
) -> StoredFile | None:
    """Returns the bytes of the answer, if they are kept. Those of a Parquet file are, if it is needed."""
    if download_format is DownloadFormat.ARROW_STREAM and coding is ContentCoding.IDENTITY:
        return found.stream
    if download_format is not DownloadFormat.PARQUET:
        return None
    if found.formatted is None and needs_length:
        return await parquet_file(app_context.access, query_id, caller)
    return found.formatted


def _head(headers: dict[str, str], media_type: str, stored: StoredFile | None) -> Response:
    if stored is None:
        return head_answer(headers, media_type)
    return head_answer({**headers, "Accept-Ranges": "bytes"}, media_type, stored.byte_count)


def _chosen(wanted: DownloadFormat, accept: str | None) -> DownloadFormat:
    others = (media_type for media_type in _FORMATS if media_type != MEDIA_TYPES[wanted])
    return _FORMATS[choose(accept, [MEDIA_TYPES[wanted], *others])]


def _headers(
    query_id: UUID, found: ResultFile, download_format: DownloadFormat, coding: ContentCoding
) -> dict[str, str]:
    # A result never changes, so its name is enough, and that of the bytes that it has in this format.
    form = NAME if download_format is DownloadFormat.PARQUET else download_format
    headers = {
        "ETag": f'"{query_id}-{form}-{coding}"',
        "Vary": "Accept, Accept-Encoding",
        "Cache-Control": "private",
        "Content-Disposition": f'attachment; filename="{query_id}.{EXTENSIONS[download_format]}"',
        "X-Query-Id": str(query_id),
    } | rows_headers(found.manifest)
    return headers if coding is ContentCoding.IDENTITY else headers | {"Content-Encoding": coding}


async def _chunk(app_context: AppContext, query_id: UUID, index: int, caller: str) -> ResultChunk:
    access = app_context.access
    return await access.call(access.gateway.queries.results.chunk, query_id, index, caller)


async def _parts(
    app_context: AppContext,
    query_id: UUID,
    caller: str,
    first: ResultChunk,
    writer: FileWriter,
    coder: Coder,
    beginning: bytes,
) -> AsyncIterator[bytes]:
    yield beginning
    for index in range(1, len(first.manifest.chunks)):
        chunk = await _chunk(app_context, query_id, index, caller)
        yield await app_context.access.call(_add, writer, coder, chunk.rows)
    yield coder.add(writer.end()) + coder.end()


def _begin(writer: FileWriter, coder: Coder, rows: pa.Table) -> bytes:
    try:
        return _add(writer, coder, rows)
    except FormatUnfit as unfit:
        raise unfit_for(unfit) from unfit


def _add(writer: FileWriter, coder: Coder, rows: pa.Table) -> bytes:
    return coder.add(writer.add(rows))
