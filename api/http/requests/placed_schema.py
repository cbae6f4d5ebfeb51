"""Schemas in Iceberg's JSON, and their places in a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from service.errors.ingest_errors import IngestInvalid
from service.faults import Faulty
from service.ingest.ingest_service import ReadSchema
from service.model.ingest.ingest_request import WriteFault
from service.model.tables.schemas import TableSchema


def placed_schema(read_schema: ReadSchema, place: str) -> ReadSchema:
    """Returns a reader like the given one, whose errors have the schema's place in the request.

    Raises:
        IngestInvalid: when the reader is called; it has every reason.
    """

    def read(json: Mapping[str, Any]) -> TableSchema:
        try:
            return read_schema(json)
        except IngestInvalid as error:
            faults = [_placed(violation, place) for violation in error.violations]
            raise IngestInvalid(error.detail, faults or [WriteFault(place, error.detail)]) from None

    return read


def _placed(violation: Faulty, place: str) -> Faulty:
    fault = violation.fault
    return replace(fault, pointer=place) if fault.pointer is None else violation
