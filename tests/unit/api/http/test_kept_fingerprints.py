"""A request that was sent to the version before is the same request for this one.

During an update of replicas, and after it, callers send requests again whose first copy the version before
has stored. So these texts never change: a field that is new is left out of them where it is not sent.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
from pydantic import TypeAdapter

from api.bootstrap.settings import Settings
from api.http.bodies.json_request import body_json
from api.http.bodies.quick_body import quick_body, quick_request
from api.http.requests.ingest_request import ingest_request, parameters
from api.http.requests.query_request import query_request
from api.http.schemas.ingests.ingest_request import IngestBody, StreamedRoute, StreamedWrite
from api.http.schemas.queries.query_request import QueryBody
from service.adapters.catalogs.iceberg_schema_json import schema_from_json

ID = {"requestId": str(UUID(int=7))}
TABLE = "lake.logs.events"
ONE: dict[str, Any] = {"table": TABLE, "records": [{"id": 1}]}
UPSERT: dict[str, Any] = {**ONE, "mode": "upsert", "equalityFields": ["id"], "branch": "audit"}
MADE: dict[str, Any] = {
    **ONE,
    "create": {"partitionSpec": [{"source": "id", "transform": "bucket[4]"}]},
    "schema": {"fields": [{"name": "id", "type": "long"}]},
    "evolve": True,
    "writeSchema": ["id"],
    "onError": "DEAD_LETTER",
}
TO: dict[str, Any] = {"route": {"field": "kind", "to": {"a": {"table": TABLE}, "*": {"table": TABLE}}}}
ROUTED: dict[str, Any] = {**TO, "records": [{"kind": "a"}]}
MANY: dict[str, Any] = {"writes": [ONE, {**UPSERT, "table": "lake.logs.others"}]}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(ONE, "7e25bf321ac152db", id="one"),
        pytest.param(UPSERT, "83c49a368d0d3903", id="upsert"),
        pytest.param(MADE, "5d3404222566b789", id="made"),
        pytest.param(ROUTED, "dff03ceafc288570", id="routed"),
        pytest.param(MANY, "816e6c058d95bee9", id="many"),
    ],
)
def test_ingests_of_json(body: dict[str, Any], expected: str) -> None:
    data = json.dumps({**body, **ID}).encode()
    bodies: Any = TypeAdapter(IngestBody)
    found = [ingest_request(bodies.validate_python(body_json(data)), schema_from_json)]
    if quick := quick_body(data):
        found.append(quick_request(quick, schema_from_json))
    assert {request.fingerprint[:16] for request in found} == {expected}


@pytest.mark.parametrize(
    ("model", "query", "expected"),
    [
        (StreamedWrite, {"table": TABLE}, "cfebaaaab0b9e149"),
        (
            StreamedWrite,
            {key: value for key, value in UPSERT.items() if key != "records"},
            "0f7cb9bda73b2e6f",
        ),
        (StreamedRoute, TO, "80b50928028bb382"),
    ],
    ids=["write", "upsert", "route"],
)
def test_ingests_of_other_formats(model: Any, query: dict[str, Any], expected: str) -> None:
    text = parameters(model.model_validate({**query, **ID}))
    assert sha256(text).hexdigest()[:16] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({}, "6951f1a77d2db498", id="plain"),
        pytest.param({"parameters": [1, "a"]}, "2fa689eac3745762", id="values"),
        pytest.param(
            {"dynamicFiltering": {"enabled": False}, "tags": {"a": "b"}}, "fd3bb0e42fda7065", id="options"
        ),
    ],
)
def test_queries(body: dict[str, Any], expected: str) -> None:
    asked = QueryBody.model_validate({"sql": "SELECT 1", "timeout": "5s", **body, **ID})
    assert query_request(asked, Settings()).fingerprint()[:16] == expected
