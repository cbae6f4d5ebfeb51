"""The settings as a Markdown page: `docs/reference/settings.md`, which a test compares with this."""

from __future__ import annotations

from typing import Any

from annotated_types import Ge, Le
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from api.bootstrap.settings import Settings

HEAD = """# Settings

Every setting is an environment variable with the prefix `SLUICE_`, or a key (in lower case, without the
prefix) of the YAML file that `SLUICE_CONFIG_FILE` names; the environment wins. In the environment,
mappings are JSON, and lists are JSON or words with commas between them. `sluice config` prints what is in
force, secrets masked. An unknown name refuses the start and names the nearest one. `SLUICE_URL`,
`SLUICE_TOKEN` and `SLUICE_PROFILE` belong to clients: they are ignored.

| variable | default | bounds | what it is |
|---|---|---|---|
"""


def settings_page() -> str:
    """Returns the page in Markdown."""
    rows = (_row(name, field) for name, field in Settings.model_fields.items())
    return HEAD + "".join(f"{row}\n" for row in rows)


def _row(name: str, field: FieldInfo) -> str:
    return f"| `SLUICE_{name.upper()}` | {_default(name, field)} | {_bounds(field)} | {field.description} |"


def _default(name: str, field: FieldInfo) -> str:
    if name == "query_workers":
        return "2 per core, at least 4"
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value in ({}, ()) or isinstance(value, SecretStr):
        return "–"
    return "<br>".join(f"`{element}`" for element in (value if isinstance(value, tuple) else (value,)))


def _bounds(field: FieldInfo) -> str:
    low = next((str(constraint.ge) for constraint in field.metadata if isinstance(constraint, Ge)), None)
    high = next((str(constraint.le) for constraint in field.metadata if isinstance(constraint, Le)), None)
    return f"{low} to {high}" if low is not None and high is not None else "–"
