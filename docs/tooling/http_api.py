"""The page of routes, from their OpenAPI description.

`python -m docs.tooling.http_api > docs/reference/http-api.md` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.openapi import describe

TITLES = {
    "query": "Queries",
    "sessions": "Sessions",
    "saved queries": "Saved queries",
    "explain": "Explanations",
    "ingest": "Ingest",
    "streams": "Streams",
    "tables": "Tables and maintenance",
    "filters": "Filter cache",
    "caches": "Caches",
    "keys": "API keys",
    "audit": "Audit log",
    "policies": "Policies",
    "pruning": "Pruning",
    "health": "Probes and metrics",
}
"""The names of the tags on the page, in the order of the page."""
_HEAD = """# HTTP API

This page is generated from the OpenAPI description that a gateway serves at `/openapi.json`. A running
gateway also shows it at `/docs`, as a page to try requests on.

- Bodies are JSON, except the records of an ingest. Answers are JSON unless `Accept` asks for another form.
- Every error is `application/problem+json` with a stable `code`: see [Errors](errors.md).
- Each route may answer with 400, 401, 408, 414, 421, 422, 431, 500 and 503.
  Other errors are listed with the route.
- If callers have to [authenticate](../operations/security-authentication.md), every route except the probes
  needs `Authorization: Bearer <token>`, or a client certificate. `/keys` is served with `api_keys`,
  and `/policies` if callers have to authenticate.
"""
_OF_EVERY_ROUTE = frozenset({"400", "401", "408", "414", "421", "422", "431", "500", "503"})


def http_api_page() -> str:
    """The page, as the routes of this version describe themselves."""

    def no_gateway() -> Any:
        raise NotImplementedError

    # With everything that a setting can open.
    settings = Settings(api_keys=True)
    api = describe(create_app(settings, no_gateway), settings)
    schemas = api["components"]["schemas"]
    routes = [
        (method.upper(), path, route)
        for path, methods in api["paths"].items()
        for method, route in methods.items()
    ]
    lines = [_HEAD]
    for tag, title in TITLES.items():
        lines.append(f"## {title}\n")
        for method, path, route in routes:
            if route["tags"] == [tag]:
                lines += _route(method, path, route)
    lines.append("## Objects\n")
    lines.append("What bodies and answers consist of, in alphabetical order.\n")
    for name in sorted(schemas):
        lines += _schema(name, schemas[name])
    return "\n".join(lines).rstrip() + "\n"


def _route(method: str, path: str, route: Mapping[str, Any]) -> Iterator[str]:
    yield f"### `{method} {path}`\n"
    yield f"{route['description'].strip()}\n"
    if parameters := route.get("parameters"):
        yield "| parameter | in | type | default | says |\n|---|---|---|---|---|"
        for parameter in parameters:
            schema = parameter["schema"]
            says = _cell(parameter.get("description") or schema.get("description", ""))
            name, place = parameter["name"], parameter["in"]
            yield f"| `{name}` | {place} | {_type(schema)} | {_default(schema)} | {says} |"
        yield ""
    if body := route.get("requestBody"):
        yield f"**Body**: {', '.join(_content(body['content']))}\n"
    for status, answer in route["responses"].items():
        if status.startswith(("2", "3")):
            content = ", ".join(_content(answer.get("content", {})))
            said = answer["description"].replace("Successful Response", HTTPStatus(int(status)).phrase)
            yield f"**{status}**: {said.rstrip('.')}{': ' if content else ''}{content}\n"
    if others := [
        status
        for status in route["responses"]
        if status not in _OF_EVERY_ROUTE and not status.startswith(("2", "3"))
    ]:
        yield f"**Errors** of this route: {', '.join(others)}\n"


def _content(content: Mapping[str, Any]) -> Iterator[str]:
    for media_type, body in content.items():
        schema = body.get("schema", {})
        refers = media_type == "application/json" and ("$ref" in schema or "anyOf" in schema)
        yield f"{_type(schema)} as `{media_type}`" if refers else f"`{media_type}`"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    if "description" in schema:
        yield f"{_cell(schema['description'])}\n"
    if "enum" in schema:
        yield f"One of {', '.join(f'`{value}`' for value in schema['enum'])}.\n"
    if properties := schema.get("properties"):
        required = set(schema.get("required", ()))
        yield "| field | type | default | says |\n|---|---|---|---|"
        for field, property_schema in properties.items():
            default = "required" if field in required else _default(property_schema)
            says = _cell(property_schema.get("description", ""))
            yield f"| `{field}` | {_type(property_schema)} | {default} | {says} |"
        yield ""


def _type(schema: Mapping[str, Any]) -> str:
    """The type of a value: a link where it is an object of the page."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for combined in ("anyOf", "oneOf", "allOf"):
        if combined in schema:
            return " or ".join(dict.fromkeys(_type(alternative) for alternative in schema[combined]))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(values := schema.get("additionalProperties"), dict):
        return f"object of {_type(values)}"
    return str(kind)


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return "–" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(http_api_page(), end="")
