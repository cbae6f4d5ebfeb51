"""The files that `make chart` writes are checked in, and are the same each time."""

from __future__ import annotations

import json
import tomllib

import yaml

from helm.generate.files import CHART, generated_files
from helm.generate.readme import described_values
from tests.chart.manifests import path_of

WITH_MORE_PARTS = frozenset({"settings", "postgresql", "valkey"})


def test_what_is_checked_in_is_what_is_written() -> None:
    for name, content in generated_files().items():
        assert path_of(name).read_text(encoding="utf-8") == content, f"{name} is old: run `make chart`"


def test_it_is_the_same_each_time() -> None:
    assert generated_files() == generated_files()


def test_the_chart_is_of_this_version() -> None:
    project = tomllib.loads((CHART.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    chart = yaml.safe_load(path_of("Chart.yaml").read_text(encoding="utf-8"))
    assert chart["appVersion"] == project["version"]


def test_every_value_is_described() -> None:
    text = path_of("values.yaml").read_text(encoding="utf-8")
    described = [value.path for value in described_values(text)]
    for path in _leaves(yaml.safe_load(text)):
        assert any(path == prefix or path.startswith(f"{prefix}.") for prefix in described), path


def test_the_schema_knows_exactly_the_values() -> None:
    schema = json.loads(path_of("values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load(path_of("values.yaml").read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(values) | {"global"}
    for name, value in values.items():
        parts = schema["properties"][name].get("properties")
        if isinstance(value, dict) and value and parts and name not in WITH_MORE_PARTS:
            assert set(parts) - {"claims"} == set(value), name
    assert _is_strict(schema)


def _is_strict(schema: object) -> bool:
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, dict):
        return True
    is_open = (
        "properties" in schema and schema.get("type") == "object" and "additionalProperties" not in schema
    )
    return not is_open and all(map(_is_strict, schema.values()))


def _leaves(values: dict[str, object], above: str = "") -> list[str]:
    found: list[str] = []
    for name, value in values.items():
        path = f"{above}{name}"
        found += _leaves(value, f"{path}.") if isinstance(value, dict) and value else [path]
    return found
