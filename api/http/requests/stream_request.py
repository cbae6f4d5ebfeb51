"""Converts the body of POST /streams to what the gateway takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from api.bootstrap.spelling import words_of
from api.http.problems.http_errors import InvalidRequest
from api.http.problems.validation_faults import pointer
from api.http.requests.ingest_request import routed, source_records, target
from api.http.schemas.ingests.streams import (
    STREAM_BODY,
    DirectoryBody,
    KafkaSourceBody,
    StreamBody,
    StreamByRoute,
)
from service.errors.source_errors import StreamInvalid
from service.faults import Fault
from service.ingest.ingest_service import ReadSchema
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.streams import DirectorySource, KafkaSource, StreamDefinition, StreamSource
from service.model.storable_texts import faulty_texts


def stored_body(body: StreamBody) -> dict[str, Any]:
    """Returns the body as it is stored and shown.

    Raises:
        InvalidRequest: it has texts that cannot be stored.
    """
    # The other mode could not even encode them.
    stored: dict[str, Any] = STREAM_BODY.dump_python(body, mode="python", by_alias=True, exclude_none=True)
    if faults := [Fault(fault, pointer(steps)) for steps, fault in faulty_texts(stored)]:
        raise InvalidRequest(faults)
    in_json: dict[str, Any] = STREAM_BODY.dump_python(
        body, mode="json", by_alias=True, exclude_none=True, exclude={"request_id"}
    )
    return in_json


def stream_definition(stored: Mapping[str, Any], read_schema: ReadSchema) -> StreamDefinition:
    """Returns the stream that a stored body defines, perhaps of an earlier version.

    Raises:
        StreamInvalid: this version cannot read it.
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
    """
    try:
        body = STREAM_BODY.validate_python(dict(stored))
    except ValidationError as error:
        raise StreamInvalid(f"This version cannot run it: {words_of(error.errors()[0])}.") from None
    request = _request(body, read_schema)
    return StreamDefinition(
        _source(body.source),
        request.writes,
        request.route,
        body.on_error,
        body.interval_ms,
    )


def _request(body: StreamBody, read_schema: ReadSchema) -> IngestRequest:
    empty = IngestRequest((), "")
    if isinstance(body, StreamByRoute):
        return routed(empty, body.route, "", read_schema)
    return IngestRequest((target(body, "", read_schema),), "")


def _source(body: DirectoryBody | KafkaSourceBody) -> StreamSource:
    match body:
        case DirectoryBody():
            records = source_records(body.directory, body.format, body.compression)
            return DirectorySource(records, body.glob, body.files_per_batch)
        case KafkaSourceBody(kafka=kafka):
            return KafkaSource(
                kafka.bootstrap_servers, kafka.topic, kafka.starting_offsets, kafka.messages_per_batch
            )
