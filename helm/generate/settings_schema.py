"""The parts of the values' schema that follow from the settings."""

from __future__ import annotations

import json
from typing import Any

from helm.generate.chart_settings import json_schema, mapping_settings, secret_settings, value_settings

Schema = dict[str, Any]

_SECRET_NAME = (
    r"([Pp]assword|[Pp]asswd|[Ss]ecret|[Tt]oken|[Cc]redential|[Aa]ccess[.-]?[Kk]ey([.-]id)?|[Ss]ecret[.-][Kk]ey"
    r"|[Aa]ccount[.-]key|connection-string|jaas\.config)$"
)
_PASSWORD_IN_ADDRESS = "://[^/@]*:[^/@]+@"
_SECRET_KEY = {"$ref": "#/$defs/secretKey"}
# A lower port needs a right that the pod does not have.
_LOWEST_PORT = 1024


def with_settings(values_schema: str) -> str:
    """Returns the values' schema with the current settings; the schema of other values stays."""
    schema: Schema = json.loads(values_schema)
    properties: Schema = schema["properties"]
    properties["settings"] = _settings()
    properties["secretSettings"] = _object(dict.fromkeys(secret_settings(), _SECRET_KEY))
    properties["secretProperties"] = _object({name: _entries(name) for name in mapping_settings()})
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _settings() -> Schema:
    whole = json_schema()
    found = {name: _plain(whole["properties"][name], whole["$defs"]) for name in value_settings()}
    found["port"]["minimum"] = _LOWEST_PORT
    for name in mapping_settings():
        if name in found:
            found[name] = _without_secrets(found[name])
    # A null value undoes what an earlier values file set.
    return _object(
        {name: {"anyOf": [schema_of_name, {"type": "null"}]} for name, schema_of_name in found.items()}
    )


def _entries(name: str) -> Schema:
    entries: Schema = {"type": "object", "additionalProperties": _SECRET_KEY}
    return {"type": "object", "additionalProperties": entries} if name == "catalogs" else entries


def _without_secrets(schema: Schema) -> Schema:
    """Forbids entries of a mapping that look like secrets."""
    inner = [
        key for key in ("additionalProperties", "patternProperties") if isinstance(schema.get(key), dict)
    ]
    if schema.get("additionalProperties") == {"type": "string"}:
        value = {"type": "string", "not": {"pattern": _PASSWORD_IN_ADDRESS}}
        names = {"not": {"pattern": _SECRET_NAME}}
        return schema | {"additionalProperties": value, "propertyNames": names}
    found = dict(schema)
    for key in inner:
        found[key] = {name: _without_secrets(of) for name, of in schema[key].items()}
    return found


def _plain(schema: Schema, definitions: Schema) -> Schema:
    """Returns the schema with its references resolved, and without parts that Helm cannot use."""
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        schema = target | {key: value for key, value in schema.items() if key != "$ref"}
    found: Schema = {}
    for key, value in schema.items():
        if key in ("title", "default", "format", "writeOnly"):
            continue
        if key in ("properties", "patternProperties"):
            found[key] = {name: _plain(item, definitions) for name, item in value.items()}
        elif key == "anyOf":
            found[key] = [_plain(item, definitions) for item in value]
        else:
            found[key] = _plain(value, definitions) if isinstance(value, dict) else value
    if "patternProperties" in found:
        found["additionalProperties"] = False
    return found


def _object(properties: Schema) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties}
