"""The OpenAPI description, with problem+json for every error."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.http.middleware.callers import OPEN_PATHS
from api.http.schemas.problem import Problem

_BEARER = {"type": "http", "scheme": "bearer", "description": "Needed when the operator has set tokens."}


def describe(app: FastAPI, has_tokens: bool) -> dict[str, Any]:
    """Returns the description of all routes, built once per app."""
    if app.openapi_schema is None:
        app.openapi_schema = _described(app, has_tokens)
    return app.openapi_schema


def _described(app: FastAPI, has_tokens: bool) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=None
    )
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}", by_alias=True)
    schemas |= problem.pop("$defs", {}) | {"Problem": problem}
    # FastAPI's own error shape is never sent.
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    components["securitySchemes"] = {"bearer": _BEARER}
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            operation["security"] = _security(path, has_tokens)
    return schema


def _security(path: str, has_tokens: bool) -> list[dict[str, list[str]]]:
    if path in OPEN_PATHS:
        return []
    # Without tokens anyone may ask. A request with a token is answered in the same way.
    return [{"bearer": []}] if has_tokens else [{}, {"bearer": []}]
