"""Problem answers as OpenAPI describes them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from api.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

PROBLEM_REFERENCE = "#/components/schemas/Problem"
_ALWAYS = (401, 421, 500)


def problems(*statuses: int) -> Responses:
    """These statuses, and those that every route may answer, as problem+json."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": PROBLEM_REFERENCE}}},
        }
        for status in sorted({*statuses, *_ALWAYS})
    }


def success(described: dict[str, Any]) -> Responses:
    """The one answer of a route that succeeds."""
    return {200: described}
