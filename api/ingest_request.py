"""From the body of POST /ingest to what the gateway takes."""

from __future__ import annotations

import hashlib
import json

from api.routes.tables import table_name
from api.schemas.ingest_request import IngestBody, ManyWrites, OneWrite, WriteBody
from service.ingest.ingests import ReadSchema
from service.model.ingest import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    IngestRequest,
    RequestedWriteSchema,
    Write,
)
from service.model.writing import TableKey


def ingest_request(body: IngestBody, read_schema: ReadSchema) -> IngestRequest:
    """The request, its writes in their order. `read_schema` reads Iceberg's JSON of a schema.

    Raises:
        InvalidRequest: it names a table in part.
        IngestInvalid: a schema in it is none.
    """
    if isinstance(body, ManyWrites):
        writes = tuple(
            _write(each, f"/writes/{number}", read_schema) for number, each in enumerate(body.writes)
        )
    else:
        writes = (_write(body, "", read_schema),)
    # Only who sends a requestId can send the same again.
    return IngestRequest(writes, _fingerprint(body) if body.request_id else "", body.request_id)


def _write(body: WriteBody | OneWrite, place: str, read_schema: ReadSchema) -> Write:
    key = TableKey(table_name(body.table, f"{place}/table"), body.branch)
    return Write(
        key,
        body.records,
        _write_schema(body, read_schema),
        place,
        is_upsert=body.mode == "upsert",
        equality_fields=None if body.equality_fields is None else tuple(body.equality_fields),
    )


def _write_schema(body: WriteBody | OneWrite, read_schema: ReadSchema) -> RequestedWriteSchema:
    match body.write_schema:
        case None:
            return None
        case str():
            return InferredColumns.INFER
        case list() as names:
            return ColumnNames(tuple(names))
        case dict() as schema:
            return ColumnFields(read_schema(schema).columns)


def _fingerprint(body: IngestBody) -> str:
    sent = body.model_dump(mode="python", exclude={"request_id", "wait"})
    # Unlike orjson it takes integers of any size: they are refused later, with their place.
    text = json.dumps(sent, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
