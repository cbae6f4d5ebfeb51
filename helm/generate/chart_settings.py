"""Which settings the chart takes, and how: as a value, from a Secret, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from api.bootstrap.settings import Settings

OF_THE_IMAGE = frozenset({"host", "data_dir"})
"""The image listens beyond loopback, and has its volume at /data: nothing of that is the operator's."""
BY_REFERENCE_ALONE = frozenset(
    {"metrics_store_url", "filter_cache_url", "api_tokens", "lineage_api_key", "traces_headers"}
)
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
    return [name for name in secret_settings() if kind_of(name) == "mapping"]


@cache
def json_schema() -> dict[str, Any]:
    """The settings as a JSON schema."""
    return Settings.model_json_schema()


def kind_of(name: str) -> str:
    """How the environment has it: as an `integer`, a `text`, a `mapping`, or else as `json`.

    >>> [kind_of(each) for each in ("port", "spark_master", "spark_conf", "rewrites")]
    ['integer', 'text', 'mapping', 'json']
    """
    types = set(_types(json_schema()["properties"][name])) - {"null"}
    kinds = {"integer": "integer", "string": "text", "object": "mapping"}
    return kinds.get(types.pop(), "json") if len(types) == 1 else "json"


def _is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def _types(schema: dict[str, Any]) -> Iterable[str]:
    if "$ref" in schema:
        yield from _types(json_schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    if "type" in schema:
        yield schema["type"]
    for each in schema.get("anyOf", ()):
        yield from _types(each)
