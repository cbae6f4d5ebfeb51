"""Which settings the chart takes, and how: as a value, from a Secret, or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from api.settings import Settings

OF_THE_IMAGE = frozenset({"host", "data_dir"})
"""The image listens beyond loopback, and has its volume at /data: nothing of that is the operator's."""
BY_REFERENCE_ALONE = frozenset({"metrics_store_url", "filter_cache_url", "api_tokens"})
"""Those that are a secret as a whole."""


def chart_settings() -> dict[str, FieldInfo]:
    """All settings that values can say something of, in their order."""
    return {name: field for name, field in Settings.model_fields.items() if name not in OF_THE_IMAGE}


def value_settings() -> dict[str, FieldInfo]:
    """Those that may stand in values as they are.

    >>> "port" in value_settings(), "metrics_store_url" in value_settings()
    (True, False)
    """
    return {name: field for name, field in chart_settings().items() if name not in BY_REFERENCE_ALONE}


def secret_settings() -> list[str]:
    """Those that may come from a Secret: what is masked wherever settings are shown."""
    return [name for name, field in chart_settings().items() if not field.repr or _is_secret(field)]


def mapping_settings() -> list[str]:
    """Those of them that are mappings, whose single entries may come from Secrets."""
    return [name for name in secret_settings() if kind_of(Settings.model_fields[name]) == "mapping"]


def kind_of(field: FieldInfo) -> str:
    """How the environment has it: as an `integer`, a `text`, a `mapping`, or else as `json`.

    >>> [kind_of(Settings.model_fields[each]) for each in ("port", "spark_master", "spark_conf", "rewrites")]
    ['integer', 'text', 'mapping', 'json']
    """
    types = set(_types(Settings.model_json_schema(), _schema_of(field)))
    for kind, name in (("integer", "integer"), ("string", "text"), ("object", "mapping")):
        if types - {"null"} == {kind}:
            return name
    return "json"


def _is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation) or field.annotation is SecretStr


def _schema_of(field: FieldInfo) -> object:
    schema = Settings.model_json_schema()["properties"]
    return next(schema[name] for name, each in Settings.model_fields.items() if each is field)


def _types(whole: dict[str, object], schema: object) -> Iterable[str]:
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        definitions = whole["$defs"]
        assert isinstance(definitions, dict)
        yield from _types(whole, definitions[schema["$ref"].rpartition("/")[2]])
    if "type" in schema:
        yield schema["type"]
    for each in schema.get("anyOf", ()):
        yield from _types(whole, each)
