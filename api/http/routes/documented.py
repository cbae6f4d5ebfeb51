"""Problem answers, as OpenAPI describes them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from api.http.problems.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

PROBLEM_REFERENCE = "#/components/schemas/Problem"
_ALWAYS = (400, 401, 408, 414, 421, 431, 500, 503)
"""Sent before a route is reached, too: for heads, tokens, hosts, connections, and during the start."""
_WITH_BODY = (413, 429)


def problems(*statuses: int) -> Responses:
    """Describes these statuses, and those that every route (or every body) may answer, as problem+json."""
    with_body = _WITH_BODY if 415 in statuses else ()
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": PROBLEM_REFERENCE}}},
        }
        for status in sorted({*statuses, *_ALWAYS, *with_body})
    }


def success(described: dict[str, Any]) -> Responses:
    """Describes the one answer of a route that succeeds."""
    return {200: described}
