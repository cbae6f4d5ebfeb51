"""The OpenAPI description of bodies that are records alone, and of the query string beside them."""

from __future__ import annotations

from typing import Any

from api.http.bodies.record_types import RECORD_TYPES

_WHAT = (
    ("table", "catalog.schema.table; required without `route`"),
    ("branch", "the table's branch, `main` if left out"),
    ("mode", "`append` or `upsert`"),
    ("equalityFields", "names separated by commas, or a JSON array of them; only for an upsert"),
    ("writeSchema", "names separated by commas, `infer`, or JSON: an array of names, an Iceberg schema"),
    ("sortOrder", "JSON: the array that the field `sortOrder` of a JSON body has"),
    ("schema", "JSON: an Iceberg schema, which the table is matched against"),
    ("evolve", "`true` or `false`: whether the table may change to match it"),
    ("dropRequired", "`true` or `false`: whether `evolve` may make required columns optional"),
    ("create", "JSON: the object that the field `create` of a JSON body has"),
    ("route", "JSON: the object that the field `route` of a JSON body has; instead of `table`"),
    ("requestId", "a UUID: the same one from the same caller is written once"),
    ("wait", "`COMMITTED` or `ACCEPTED`"),
    ("onError", "`REJECT_REQUEST` or `DEAD_LETTER`"),
)

BODIES: dict[str, Any] = {
    "parameters": [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": f"for bodies of records alone: {description}",
            "schema": {"type": "string"},
        }
        for name, description in _WHAT
    ],
    "requestBody": {
        "content": {
            record_type: {"schema": {"type": "string", "format": "binary"}} for record_type in RECORD_TYPES
        }
    },
}
