"""The strict schemas of Kubernetes' own objects for each version, from the wheel that ships them."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import jsonschema_rs

VERSIONS = tuple(f"1.{minor}" for minor in range(31, 38))
# These kinds are defined by operators, so Kubernetes has no schemas for them.
DEFINED_BY_OPERATORS = frozenset({"ServiceMonitor", "PrometheusRule", "HTTPRoute"})


def faults(manifest: dict[str, Any], version: str) -> list[str]:
    """Returns the faults of a manifest in this version of Kubernetes, each with its place."""
    validator = _validator(manifest["kind"], manifest["apiVersion"], version)
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for error in validator.iter_errors(manifest)
    ]


@cache
def _validator(kind: str, api_version: str, version: str) -> jsonschema_rs.Validator:
    group = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", api_version)
    schema = json.loads((_folder(version) / f"{kind.lower()}-{group}.json").read_bytes())
    return jsonschema_rs.Draft202012Validator(schema, registry=_registry(version))


@cache
def _registry(version: str) -> jsonschema_rs.Registry:
    definitions = json.loads((_folder(version) / "_definitions.json").read_bytes())
    return jsonschema_rs.Registry([("json-schema:///_definitions.json", definitions)])


@cache
def _folder(version: str) -> Path:
    wheel = distribution("kubernetes-validate")
    return Path(
        str(wheel.locate_file(f"kubernetes_validate/kubernetes-json-schema/v{version}.0-local-strict"))
    )
