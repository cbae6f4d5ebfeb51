"""Turns a query's status into the common shape of answer. Everything here may block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson

from api.http.problems.problems import errors_of
from api.http.rendering.formats import render
from api.http.schemas.problem import ProblemError
from api.http.schemas.queries.explanation import selection_answer
from api.http.schemas.queries.progress import progress_answer
from api.http.schemas.queries.query_answer import (
    ColumnAnswer,
    LinksAnswer,
    ManifestAnswer,
    PruningAnswer,
    QueryAnswer,
    QueryErrorAnswer,
    StatusAnswer,
    queue_answer,
    reused_answer,
)
from api.http.schemas.write_answer import write_answer
from service.errors.query_errors import ResultExpired
from service.gateway import Gateway
from service.model.filters.key_set import FilterSource
from service.model.query.query import QueryRecord
from service.model.query.results import Manifest, ResultFormat
from service.model.query.scan_metrics import Selection
from service.query.lookup.query_results import ResultChunk
from service.query.registry.query_status import QueryStatus

_FROM_CACHE = (FilterSource.CACHED, FilterSource.CARRIED_OVER, FilterSource.CONTAINED)


@dataclass(frozen=True, slots=True)
class Answered:
    """A status, and its answer as JSON. Either both have a manifest or neither has."""

    status: QueryStatus
    body: bytes


def answer(
    gateway: Gateway,
    query_id: UUID,
    caller: str,
    wanted: ResultFormat | None,
    was_sent_before: bool = False,
) -> Answered:
    """Returns the query as it is now, with its first rows if they are there and JSON is wanted.

    `wanted` defaults to the query's own format.

    Raises:
        QueryNotFound: this caller has no such query.
    """
    status = gateway.queries.status(query_id, caller)
    format = wanted or status.format  # noqa: A001
    manifest = status.manifest
    result = None
    if manifest is not None:
        try:
            result = _result(gateway, query_id, caller, manifest, format, status.format)
        except ResultExpired:
            # The result expired between the two calls.
            manifest, status = None, replace(status, manifest=None)
    envelope = _envelope(status, manifest, format, was_sent_before).model_dump(mode="json", by_alias=True)
    return Answered(status, orjson.dumps(envelope | {"result": result}))


def status_only(status: QueryStatus) -> QueryAnswer:
    """Returns the query as it is now, without rows."""
    return _envelope(status, status.manifest, status.format, was_sent_before=False)


def chunk_wire(query_id: UUID, found: ResultChunk) -> dict[str, Any]:
    """Returns one chunk with its rows, as it is on the wire."""
    chunk = found.chunk
    return {
        "chunkIndex": chunk.index,
        "rowOffset": chunk.row_offset,
        "rowCount": chunk.row_count,
        "rows": orjson.Fragment(render(found.rows, ResultFormat.JSON)),
        "nextChunkLink": next_chunk_link(query_id, found, ResultFormat.JSON),
    }


def next_chunk_link(query_id: UUID, found: ResultChunk, format: ResultFormat) -> str | None:  # noqa: A002
    """Returns the address of the next chunk; None after the last."""
    following = found.chunk.index + 1
    if following >= len(found.manifest.chunks):
        return None
    return chunk_link(query_id, following, format, found.format)


def chunk_link(
    query_id: UUID,
    index: int,
    format: ResultFormat,  # noqa: A002
    own_format: ResultFormat,
) -> str:
    """Returns the address of a chunk in this format. `own_format` is the one that its query asked for."""
    return f"/query/{query_id}/chunks/{index}{_query_string(format, own_format)}"


def _query_string(format: ResultFormat, own_format: ResultFormat) -> str:  # noqa: A002
    return "" if format is own_format is ResultFormat.JSON else f"?format={format.value}"


def _result(
    gateway: Gateway,
    query_id: UUID,
    caller: str,
    manifest: Manifest,
    format: ResultFormat,  # noqa: A002
    own_format: ResultFormat,
) -> dict[str, Any]:
    if manifest.chunks and format is ResultFormat.JSON:
        return chunk_wire(query_id, gateway.queries.results.chunk(query_id, 0, caller))
    link = chunk_link(query_id, 0, format, own_format) if manifest.chunks else None
    return {"chunkIndex": None, "rowOffset": 0, "rowCount": 0, "rows": [], "nextChunkLink": link}


def _envelope(
    status: QueryStatus,
    manifest: Manifest | None,
    format: ResultFormat,  # noqa: A002
    was_sent_before: bool,
) -> QueryAnswer:
    record = status.record
    path = f"/query/{record.query_id}"
    return QueryAnswer(
        query_id=record.query_id,
        status=StatusAnswer(
            state=record.state,
            queue=queue_answer(status.queue),
            error=_error(status),
            queued_ms=record.queued_ms,
            elapsed_ms=status.elapsed_ms,
            progress=None if status.progress is None else progress_answer(status.progress),
        ),
        sent_before=was_sent_before,
        reused=reused_answer(record.reused),
        manifest=_manifest(manifest, format) if manifest else None,
        result=None,
        pruning=_pruning(record) if record.state.is_final else None,
        write=write_answer(record.write),
        links=LinksAnswer(
            self=path + _query_string(format, status.format),
            explain=f"/explain/{record.query_id}",
            cancel=path,
        ),
    )


def _error(status: QueryStatus) -> QueryErrorAnswer | None:
    failure, recorded = status.failure, status.record.error
    if failure is not None:
        known = [ProblemError.model_validate(error) for error in errors_of(failure)]
        return QueryErrorAnswer(code=failure.code, detail=failure.detail, errors=known)
    return QueryErrorAnswer(code=recorded.code, detail=recorded.detail, errors=[]) if recorded else None


def _manifest(manifest: Manifest, format: ResultFormat) -> ManifestAnswer:  # noqa: A002
    return ManifestAnswer(
        format=format,
        columns=[
            ColumnAnswer(name=column.name, type=column.type_name, nullable=column.is_nullable)
            for column in manifest.columns
        ],
        total_row_count=manifest.row_count,
        total_byte_count=manifest.byte_count,
        chunk_count=len(manifest.chunks),
        truncated=manifest.is_truncated,
    )


def _pruning(record: QueryRecord) -> PruningAnswer:
    metrics = [scan.metrics for scan in record.scans]
    applied = [filter_record for filter_record in record.filters if filter_record.is_applied]
    return PruningAnswer(
        filters=sum(filter_record.is_candidate for filter_record in record.filters),
        applied=len(applied),
        cached=sum(filter_record.source in _FROM_CACHE for filter_record in applied),
        data_files=selection_answer(_sum(metric.data_files for metric in metrics)),
        bytes=selection_answer(_sum(metric.bytes for metric in metrics)),
    )


def _sum(selections: Iterable[Selection]) -> Selection:
    found = list(selections)
    return Selection(
        sum(selection.total for selection in found), sum(selection.selected for selection in found)
    )
