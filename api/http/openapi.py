"""The OpenAPI description, with problem+json for every error."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.bootstrap.settings import Settings
from api.http.authentication.security_schemes import security_of, security_schemes
from api.http.middleware.request_caller import OPEN_PATHS
from api.http.openapi_links import add_links
from api.http.schemas.problem import Problem


def describe(app: FastAPI, settings: Settings) -> dict[str, Any]:
    """Returns the description of all routes, built once per app."""
    if app.openapi_schema is None:
        app.openapi_schema = _described(app, settings)
    return app.openapi_schema


def _described(app: FastAPI, settings: Settings) -> dict[str, Any]:
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
    add_links(schema["paths"])
    components["securitySchemes"] = security_schemes(settings)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            operation["security"] = [] if path in OPEN_PATHS else security_of(settings)
    return schema
