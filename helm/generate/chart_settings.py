"""The settings that the chart takes, and how: as a value, from a Secret, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from api.bootstrap.settings import Settings

OF_THE_IMAGE = frozenset({"host", "data_dir"})
"""Fixed in the image: it listens beyond loopback, and has its volume at /data. Operators cannot set these."""
BY_REFERENCE_ALONE = frozenset(
    {
        *("metrics_store_url", "filter_cache_url", "api_tokens", "lineage_api_key", "traces_headers"),
        "console_login_secrets",
    }
)
"""Settings that are secret as a whole."""


def chart_settings() -> dict[str, FieldInfo]:
    """Returns all settings that the chart's values may contain, in their order."""
    return {name: field for name, field in Settings.model_fields.items() if name not in OF_THE_IMAGE}


def value_settings() -> dict[str, FieldInfo]:
    """Returns the settings that may be plain values.

    >>> "port" in value_settings(), "metrics_store_url" in value_settings()
    (True, False)
    """
    return {name: field for name, field in chart_settings().items() if name not in BY_REFERENCE_ALONE}


def secret_settings() -> list[str]:
    """Returns the settings that may come from a Secret: those that are masked wherever settings are shown."""
    return [name for name, field in chart_settings().items() if not field.repr or _is_secret(field)]


def mapping_settings() -> list[str]:
    """Returns the mappings among the secret settings; their single entries may come from Secrets."""
    return [name for name in secret_settings() if kind_of(name) == "mapping"]


@cache
def json_schema() -> dict[str, Any]:
    """Returns the settings as a JSON schema."""
    return Settings.model_json_schema()


def kind_of(name: str) -> str:
    """Returns how the environment spells the setting: as an `integer`, a `text`, a `mapping`, or as `json`.

    >>> [kind_of(name) for name in ("port", "spark_master", "spark_conf", "rewrites")]
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
    for alternative in schema.get("anyOf", ()):
        yield from _types(alternative)
