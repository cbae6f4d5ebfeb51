"""Checks events against OpenLineage's JSON schemas, and our facets against docs/reference/lineage."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, Registry

from tests.integration.running import REPOSITORY

SPEC = Path(__file__).parent / "spec"
OWN = REPOSITORY / "docs" / "reference" / "lineage"
RUN_EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def check(event: Mapping[str, Any]) -> None:
    """Checks the event, and each facet against the schema that it names.

    Raises:
        ValidationError: it is not what the schema says.
        AssertionError: a facet's schema is none that is known here.
    """
    assert event["schemaURL"] == RUN_EVENT
    _validator(RUN_EVENT).validate(event)
    for name, facet in facets(event):
        url = facet["_schemaURL"]
        assert url.partition("#")[0] in schemas(), f"{name} has an unknown schema: {url}"
        _validator(url).validate(facet)


def facets(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields all facets of an event with their names."""
    owners = [event["run"], event["job"], *event.get("inputs", ()), *event.get("outputs", ())]
    for owner in owners:
        for kind in ("facets", "inputFacets", "outputFacets"):
            yield from owner.get(kind, {}).items()


@cache
def schemas() -> Mapping[str, Any]:
    """Returns the schemas by id."""
    files = [*SPEC.rglob("*.json"), *OWN.glob("*Facet.json")]
    read = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {schema["$id"]: schema for schema in read}


@cache
def _validator(url: str) -> Draft202012Validator:
    registry = Registry(list(schemas().items()))
    return Draft202012Validator({"$ref": url}, registry=registry, validate_formats=True)
