"""Schemas in Iceberg's JSON that stand somewhere in a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.errors import IngestInvalid
from service.ingest.ingests import ReadSchema
from service.model.ingest.ingest import WriteFault
from service.model.tables.schemas import TableSchema


def placed_schema(read_schema: ReadSchema, place: str) -> ReadSchema:
    """Reads as the other does; what is wrong has its place, a JSON pointer, in the request.

    Raises:
        IngestInvalid: when it is called, with every reason.
    """

    def read(json: Mapping[str, Any]) -> TableSchema:
        try:
            return read_schema(json)
        except IngestInvalid as error:
            faults = [_fault(each, place) for each in error.violations]
            raise IngestInvalid(error.detail, faults or [WriteFault(place, error.detail)]) from None

    return read


def _fault(violation: object, place: str) -> object:
    match violation:
        case (str(inside), str(reason)):
            return WriteFault(place, f"{inside}: {reason}")
        case _:
            return violation
