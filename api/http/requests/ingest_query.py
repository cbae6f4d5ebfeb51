"""The query string beside a body of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import QueryParams

from api.http.problems.http_errors import InvalidRequest
from api.http.schemas.ingests.ingest_request import StreamedRoute, StreamedWrite
from service.faults import Fault
from service.ingest.decoding.values.exact_json import exact_json

_LISTS = ("writeSchema", "equalityFields")
"""Lists of names, separated by commas. JSON is for names with a comma, and for values that are not lists."""
_INFER = ("writeSchema", "infer")
_JSON = ("route", "schema", "evolve", "dropRequired", "create", "sortOrder", "deleteWhen")


def ingest_query(parameters: QueryParams) -> StreamedWrite | StreamedRoute:
    """Reads the parameters. A route, a schema and what comes with it are JSON, as in a JSON body.

    Raises:
        InvalidRequest: a parameter is there twice, or is not JSON.
        RequestValidationError: they do not fit the model.
    """
    values = _values(parameters)
    model = StreamedRoute if "route" in values else StreamedWrite
    try:
        return model.model_validate(values)
    except ValidationError as error:
        found = [{**fault, "loc": ("query", *fault["loc"])} for fault in error.errors()]
        raise RequestValidationError(found, body=values) from None


def _values(parameters: QueryParams) -> Mapping[str, Any]:
    values: dict[str, Any] = {}
    for name, text in parameters.multi_items():
        if name in values:
            raise InvalidRequest([Fault("is given twice", f"/query/{name}")])
        values[name] = _value(name, text)
    return values


def _value(name: str, text: str) -> object:
    if name in _JSON or (name in _LISTS and text.startswith(("[", "{"))):
        try:
            return exact_json(text)
        except (ValueError, RecursionError) as error:
            raise InvalidRequest([Fault(f"is not JSON: {error}", f"/query/{name}")]) from None
    if name in _LISTS and (name, text) != _INFER:
        return text.split(",")
    return text
