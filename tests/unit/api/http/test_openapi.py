from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, settings
from jsonschema_rs import Draft202012Validator
from schemathesis import openapi
from schemathesis.checks import CHECKS

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.bodies.record_types import RECORD_TYPES
from api.http.http_server import bind, url_of
from service.errors.statement_errors import SqlEmpty
from service.errors.table_errors import TableNotFound
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRequest
from tests.fakes.gateway import FakeGateway

KNOWN = uuid4()
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The URL of a real server over the fake gateway, which knows one query."""
    gateway = FakeGateway()
    gateway.queries.failures |= {"": SqlEmpty(), "0": TableNotFound("x", ["y"])}
    gateway.queries.submit(QueryRequest("select 1"), "anonymous", FULL_ACCESS)
    [known] = gateway.queries.by_id.values()
    gateway.queries.by_id = {KNOWN: known}
    server = uvicorn.Server(
        uvicorn.Config(create_app(Settings(), lambda: gateway), log_config=None, access_log=False)
    )
    with bind("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = url_of(listening)
        while httpx.get(f"{url}/readyz").status_code != 200:
            pass
        yield url
        server.should_exit = True
        thread.join()


schema = openapi.from_dict(create_app(Settings(), FakeGateway).openapi())


# The generated bodies depend on which modules the process has loaded, even in derandomized tests, as
# Hypothesis takes constants from them. So cases that need a rare body have tests of their own below. Bodies
# in binary formats, such as Arrow, are not generated.
@pytest.mark.filterwarnings("ignore:Skipped test cases with unsupported payload media types")
@schema.parametrize()
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_described(case: schemathesis.Case[Any], served: str) -> None:
    with suppress(KeyError, TypeError, ValueError):
        # A valid id is replaced by that of the known query, so that not every answer is 404.
        UUID(case.path_parameters["query_id"])
        case.path_parameters["query_id"] = str(KNOWN)
    # The description lacks the operator's limits, which are settings, and the tokens of pages. For bodies of
    # records alone, it cannot say which parameters go together.
    is_list = (case.method, case.path) == ("GET", "/ingest")
    # It does not cover all faults of an Iceberg schema, or which fields of a JSON ingest go together.
    # Nor which catalogs there are, what a session may set, or what a token of a page is.
    paths = {"/query", "/explain", "/describe", "/sessions", "/schemas", "/tables", "/streams", "/ingest"}
    # Nor what the version of a saved query is.
    paths |= {"/saved-queries", "/saved-queries/{saved_query_id}"}
    is_in_part = is_list or case.path in paths or case.media_type in RECORD_TYPES
    names = CHECKED if is_in_part else (*CHECKED, "positive_data_acceptance")
    case.call_and_validate(base_url=served, checks=CHECKS.get_by_names(names))  # type: ignore[arg-type]


def test_errors_are_described_as_problems(served: str) -> None:
    description = httpx.get(f"{served}/openapi.json").json()
    answers = description["paths"]["/query"]["post"]["responses"]
    assert set(answers["422"]["content"]) == {"application/problem+json"}
    assert "HTTPValidationError" not in description["components"]["schemas"]
    fields = description["components"]["schemas"]["QueryBody"]["properties"]
    assert fields["waitTimeout"]["default"] == "10s"
    assert "reuseResult" in fields


SCHEMA = {"type": "struct", "fields": [{"name": "k", "type": "long"}]}


@pytest.mark.parametrize(
    ("more", "is_valid"),
    [
        ({"evolve": True}, False),
        ({"evolve": True, "schema": None}, False),
        ({"evolve": True, "schema": SCHEMA}, True),
        ({"evolve": False}, True),
        ({"dropRequired": True}, False),
        ({"dropRequired": True, "evolve": False, "schema": SCHEMA}, False),
        ({"dropRequired": True, "evolve": True, "schema": SCHEMA}, True),
        ({"dropRequired": False, "schema": SCHEMA}, True),
    ],
)
def test_fields_that_need_one_another_are_described(
    more: dict[str, Any], is_valid: bool, served: str
) -> None:
    description = httpx.get(f"{served}/openapi.json").json()
    of_body = {"$ref": "#/components/schemas/WriteBody", "components": description["components"]}
    body = {"table": "lake.shop.item", "records": [{"k": 1}]} | more
    assert Draft202012Validator(of_body).is_valid(body) == is_valid
    assert (httpx.post(f"{served}/ingest", json=body).status_code != 422) == is_valid


@pytest.mark.parametrize("tokens", [{}, {"monitor": "0" * 64}])
def test_who_may_ask_what_is_described(tokens: dict[str, str]) -> None:
    description = create_app(Settings(api_tokens=tokens), FakeGateway).openapi()
    assert description["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for path, operations in description["paths"].items():
        for operation in operations.values():
            is_open = path in ("/healthz", "/livez", "/readyz")
            needed: list[dict[str, list[str]]] = [{"bearer": []}] if tokens else [{}, {"bearer": []}]
            assert operation["security"] == ([] if is_open else needed)
            assert is_open or {"400", "401", "408", "414", "431", "503"} <= set(operation["responses"])
            if "415" in operation["responses"]:
                assert {"413", "429"} <= set(operation["responses"])
