"""Iceberg's JSON of a schema, as a part of a body."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

# Only for the description: faults of a schema are reported place by place.
_SCHEMA_JSON: dict[str, Any] = {
    "type": "object",
    "required": ["fields"],
    "properties": {"fields": {"type": "array", "items": {"type": "object"}}},
}
SchemaJson = Annotated[dict[str, Any], WithJsonSchema(_SCHEMA_JSON)]
