"""Reads bodies of POST /ingest without parsing their records.

A body that is invalid, or that this module cannot read, goes the usual way, which reports its faults.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import msgspec

from api.http.bodies.json_request import body_json
from api.http.requests.ingest_request import NO_PART_OF_IT, fingerprinted, ingest_request_of
from api.http.schemas.ingests.ingest_request import MAX_WRITES, ManyWrites, OneWrite, RoutedWrites
from service.ingest.decoding.json.records_by_line import json_records
from service.ingest.decoding.values.exact_json import exact_json
from service.ingest.ingest_service import ReadSchema
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.json_records import JsonRecords

AT_MOST_BYTES = 4 * 1024**2
"""A larger body would be read in blocks if it were sent as NDJSON, so it need not be fast here."""

_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_Fields = Mapping[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class QuickBody:
    """A body with placeholders for its records, and the records of each write, or of all."""

    body: OneWrite | ManyWrites | RoutedWrites
    records: tuple[JsonRecords, ...]


def quick_body(data: bytes) -> QuickBody | None:
    """Returns the body; None if it has to go the usual way."""
    if len(data) > AT_MOST_BYTES:
        return None
    try:
        return _quick_body(_object(data), cache(lambda: body_json(data)))
    except (msgspec.DecodeError, ValueError, RecursionError, _NotQuick):
        return None


def quick_request(quick: QuickBody, read_schema: ReadSchema) -> IngestRequest:
    """Returns the request that the usual way would make of this body.

    Raises:
        InvalidRequest: a table's name is not complete.
        IngestInvalid: a schema in it is not valid.
        NotJson: a closer look shows that it is not JSON.
    """
    fingerprint = hashlib.sha256(_parameters(quick)).hexdigest() if quick.body.request_id else ""
    request = ingest_request_of(quick.body, fingerprint, read_schema)
    if request.shared is not None:
        return replace(request, shared=quick.records[0])
    pairs = zip(request.writes, quick.records, strict=True)
    return replace(request, writes=tuple(replace(write, records=records) for write, records in pairs))


def _of_write(parsed: Callable[[], Any], at: int) -> Any:
    return parsed()["writes"][at]["records"]


class _NotQuick(Exception):
    """The records cannot be cut into lines, or a name occurs twice."""


class _Name:
    """A name in an object. Each is unequal to all others, so that a dictionary keeps duplicates."""

    def __init__(self, text: str) -> None:
        self.text = text


_names = msgspec.json.Decoder(dict[_Name, msgspec.Raw], dec_hook=lambda kind, text: kind(text)).decode


def _object(data: bytes | msgspec.Raw) -> _Fields:
    found = _names(data)
    fields = {name.text: value for name, value in found.items()}
    if len(fields) < len(found):
        raise _NotQuick
    return fields


def _quick_body(fields: _Fields, parsed: Callable[[], Any]) -> QuickBody:
    if "writes" in fields:
        writes_sent = _array(fields["writes"])
        if len(writes_sent) > MAX_WRITES:
            raise _NotQuick
        found = [_object(write) for write in writes_sent]
        records = [_records(write, partial(_of_write, parsed, at)) for at, write in enumerate(found)]
        writes = [_values(write, "records", [{}]) for write in found]
        return QuickBody(ManyWrites.model_validate(_values(fields, "writes", writes)), tuple(records))
    kind = RoutedWrites if "route" in fields else OneWrite
    only = _records(fields, lambda: parsed()["records"])
    return QuickBody(kind.model_validate(_values(fields, "records", [{}])), (only,))


def _records(fields: _Fields, parse: Callable[[], Any]) -> JsonRecords:
    found = json_records(_array(fields["records"]), parse) if "records" in fields else None
    if found is None:
        raise _NotQuick
    return found


def _values(fields: _Fields, but: str, instead: object) -> dict[str, object]:
    found = {name: exact_json(bytes(field).decode()) for name, field in fields.items() if name != but}
    return found | {but: instead}


def _parameters(quick: QuickBody) -> bytes:
    """Spells the body as `parameters` does."""
    sent = quick.body.model_dump(mode="python", exclude=NO_PART_OF_IT)
    for place, records in zip(sent.get("writes", [sent]), quick.records, strict=True):
        place["records"] = list(records)
    return fingerprinted(sent)
