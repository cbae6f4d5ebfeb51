"""Converts the body of POST /ingest to the gateway's request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import BinaryIO

from api.http.requests.placed_schema import placed_schema
from api.http.requests.table_creation import requested_schema, sort_fields
from api.http.requests.table_name import table_name
from api.http.schemas.ingests.ingest_request import (
    DeleteWhenBody,
    IngestBody,
    ManyWrites,
    OneWrite,
    RouteBody,
    RoutedWrites,
    SourceBody,
    SourceRoute,
    SourceWrite,
    StreamedRoute,
    StreamedWrite,
    TargetBody,
    WriteBody,
)
from api.http.schemas.ingests.streams import StreamToTable
from service.ingest.ingest_service import ReadSchema
from service.ingest.one_refusal import OneRefusal
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    IngestRequest,
    RequestedWriteSchema,
    Route,
    StreamedRecords,
    Write,
)
from service.model.ingest.record_deletes import DeleteWhen, Envelope, json_name
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.ingest.writing import TableKey

_REST = "*"
_QUERY = "/query"
_SOURCE_FORMATS = {
    "json": RecordFormat.NDJSON,
    "ndjson": RecordFormat.NDJSON,
    "csv": RecordFormat.CSV,
    "parquet": RecordFormat.PARQUET,
    "arrow": RecordFormat.ARROW_STREAM,
}
AnyTarget = TargetBody | WriteBody | OneWrite | StreamedWrite | SourceWrite | StreamToTable
NO_PART_OF_IT = {"request_id", "wait"}
"""Fields that may differ when the same request is sent again."""


def ingest_request(body: IngestBody, read_schema: ReadSchema) -> IngestRequest:
    """Returns the request, with its writes in their order. `read_schema` reads Iceberg's JSON of a schema.

    Raises:
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
    """
    # Only a caller who sends a requestId can send the same request again.
    fingerprint = hashlib.sha256(parameters(body)).hexdigest() if body.request_id else ""
    return ingest_request_of(body, fingerprint, read_schema)


def ingest_request_of(body: IngestBody, fingerprint: str, read_schema: ReadSchema) -> IngestRequest:
    """Returns the same request, with a fingerprint that is already known.

    Raises:
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
    """
    request = IngestRequest((), fingerprint, body.request_id, body.on_error)
    match body:
        case ManyWrites():
            return replace(request, writes=_writes(body, read_schema))
        case RoutedWrites():
            return replace(routed(request, body.route, "", read_schema), shared=body.records)
        case SourceRoute():
            return replace(routed(request, body.route, "", read_schema), executed=_files(body.source))
        case SourceWrite():
            return replace(request, writes=(target(body, "", read_schema),), executed=_files(body.source))
        case OneWrite():
            return replace(request, writes=(_write(body, "", read_schema),))


def streamed_request(
    query: StreamedWrite | StreamedRoute, fingerprint: str, read_schema: ReadSchema
) -> IngestRequest:
    """Returns the request without the records of its body.

    Raises:
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
    """
    request = IngestRequest((), fingerprint, query.request_id, query.on_error)
    match query:
        case StreamedRoute():
            return routed(request, query.route, _QUERY, read_schema)
        case StreamedWrite():
            return replace(request, writes=(target(query, _QUERY, read_schema),))


def streamed_records(
    request: IngestRequest, opened: Callable[[], BinaryIO], record_format: RecordFormat, packed: Compression
) -> IngestRequest:
    """Adds the records of a body, which `opened` reads from its beginning."""
    return replace(request, shared=StreamedRecords(opened, record_format, packed))


def parameters(body: IngestBody | StreamedWrite | StreamedRoute) -> bytes:
    """Returns all fields that make it a different request, always spelled alike."""
    return fingerprinted(body.model_dump(mode="python", exclude=NO_PART_OF_IT))


def fingerprinted(sent: Mapping[str, object]) -> bytes:
    """Returns what was sent, always spelled alike.

    >>> fingerprinted({"v": Decimal("0.1")}) == fingerprinted({"v": "0.1"})
    False
    """
    # Unlike orjson, json takes integers of any size: they are rejected later, with their place.
    return json.dumps(sent, sort_keys=True, default=_spelled).encode()


def _spelled(value: object) -> object:
    # A number that no float can hold differs from the text with the same digits.
    return {"number": str(value)} if isinstance(value, Decimal) else str(value)


def routed(request: IngestRequest, route: RouteBody, place: str, read_schema: ReadSchema) -> IngestRequest:
    """Adds a route, and its writes.

    Raises:
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
    """
    refusal = OneRefusal()
    writes: list[Write] = []
    for value, body in route.to.items():
        with refusal.gathering():
            writes.append(target(body, f"{place}/route/to/{_escaped(value)}", read_schema))
    refusal.check()
    indexes = {value: index for index, value in enumerate(route.to)}
    otherwise = indexes.pop(_REST, None)
    return replace(request, writes=tuple(writes), route=Route(route.field, indexes, otherwise))


def source_records(uri: str, kind: str, packed: str | None) -> SourceRecords:
    """Returns the records of a source, as a request names it."""
    compression = None if packed is None else Compression(packed.upper())
    return SourceRecords(uri, _SOURCE_FORMATS[kind], compression)


def _files(body: SourceBody) -> SourceRecords:
    return source_records(body.uri, body.format, body.compression)


def _escaped(value: str) -> str:
    return value.replace("~", "~0").replace("/", "~1")


def _writes(body: ManyWrites, read_schema: ReadSchema) -> tuple[Write, ...]:
    refusal = OneRefusal()
    found: list[Write] = []
    for at, write in enumerate(body.writes):
        with refusal.gathering():
            found.append(_write(write, f"/writes/{at}", read_schema))
    refusal.check()
    return tuple(found)


def _write(body: WriteBody | OneWrite, place: str, read_schema: ReadSchema) -> Write:
    return replace(target(body, place, read_schema), records=body.records)


def target(body: AnyTarget, place: str, read_schema: ReadSchema) -> Write:
    """Returns the write to this target, without its records.

    Raises:
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
    """
    key = TableKey(table_name(body.table, f"{place}/table"), body.branch)
    refusal, write_schema, schema = OneRefusal(), None, None
    with refusal.gathering():
        schema = requested_schema(body, placed_schema(read_schema, f"{place}/schema"))
    with refusal.gathering():
        write_schema = _write_schema(body.write_schema, placed_schema(read_schema, f"{place}/writeSchema"))
    refusal.check()
    return Write(
        key,
        (),
        write_schema,
        place,
        schema,
        is_upsert=body.mode in ("upsert", "delete"),
        equality_fields=None if body.equality_fields is None else tuple(body.equality_fields),
        sort_order=None if body.sort_order is None else sort_fields(body.sort_order),
        is_delete=body.mode == "delete",
        delete_when=None if body.delete_when is None else _delete_when(body.delete_when),
        envelope=None if body.envelope is None else Envelope(body.envelope),
        order_by=body.order_by,
        rest=body.rest,
    )


def _delete_when(body: DeleteWhenBody) -> DeleteWhen:
    names = (json_name(value) for value in body.values)
    return DeleteWhen(body.field, frozenset(name for name in names if name is not None))


def _write_schema(
    given: str | list[str] | dict[str, object] | None, read_schema: ReadSchema
) -> RequestedWriteSchema:
    match given:
        case None:
            return None
        case str():
            return InferredColumns.INFER
        case list() as names:
            return ColumnNames(tuple(names))
        case dict() as schema:
            return ColumnFields(read_schema(schema).columns)
