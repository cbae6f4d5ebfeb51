"""Requests that follow the links of the OpenAPI document, and conform to it, for callers with a token.

The document is the one that the gateway serves at `/openapi.json`. The gateway decides by policies. Its
ingests and streams are the real services over fakes.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode, openapi
from schemathesis.checks import CHECKS
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.schemas import OpenApiSchema

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.http_server import bind, url_of
from api.http.middleware.request_caller import OPEN_PATHS
from api.http.openapi_links import LINKS
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from tests.fakes.clock import FakeClock
from tests.fakes.policed_gateway import FOLDER, SELECT_FROM, PolicedGateway
from tests.fakes.policy_store import FakePolicyStore
from tests.polling import until
from tests.unit.api.http.test_openapi import CHECKED
from tests.unit.policies.by_hand import ByHand

SEEN, FILTERED, UNSEEN = "lake.flows.seen", "lake.flows.filtered", "lake.flows.unseen"
TABLES = (SEEN, FILTERED, UNSEEN)
ADMINISTRATOR, ANALYST = "boss", "analyst"
BY_HAND = ByHand(
    {
        ADMINISTRATOR: (("*.*.*", "admin"),),
        ANALYST: (
            *((SEEN, action) for action in ("select", "insert", "modify", "maintain")),
            (FILTERED, "select"),
            (FILTERED, "rows:id = 1"),
        ),
    }
)
TOKENS = {role: f"token-of-{role}-with-many-characters" for role in BY_HAND.rules}
SETTINGS = Settings(
    api_tokens={role: sha256(text.encode()).hexdigest() for role, text in TOKENS.items()},
    principal_roles={role: [role] for role in TOKENS},
    admins=(ADMINISTRATOR,),
    api_keys=True,
)
SCENARIOS, STEPS = 15, 6
WITHIN_S = 60
FROM_BODY, FROM_PATH = "$response.body#", "$request.path."
SENSIBLE: dict[str, Any] = {
    "POST /query": {"sql": SELECT_FROM},
    "POST /explain": {"sql": SELECT_FROM},
    "POST /ingest": {"records": [{"id": 1}], "writeSchema": ["id"], "table": ""},
    "POST /saved-queries": {"name": "Sales", "sql": "SELECT 1"},
    "PUT /saved-queries/{saved_query_id}": {"name": "Sales", "sql": "SELECT 2", "shared": True},
    "POST /streams": {"source": {"directory": FOLDER}, "table": ""},
    "POST /tables/{name}/maintenance": {"operations": ["compact", "expire"]},
    "POST /keys": {"principal": "reports", "roles": ["analyst"], "expiresInDays": 1},
    "POST /policies/decide": {"roles": ["analyst"], "action": "select", "table": ""},
    "PUT /policies": {"roles": {"analyst": {"grants": [{"tables": "*.*.*", "actions": ["describe"]}]}}},
}


@dataclass
class Served:
    url: str
    gateway: PolicedGateway
    schema: OpenApiSchema


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    live = LivePolicies(FakePolicyStore(policies=BY_HAND.policies()), FakeClock())
    live.refresh()
    gateway = PolicedGateway(tuple(map(TableName.of, TABLES)), live)
    app = create_app(SETTINGS, lambda: gateway)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    with bind("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = url_of(listening)
        try:
            until(lambda: httpx.get(f"{url}/readyz", timeout=WITHIN_S).status_code == 200)
            yield Served(url, gateway, openapi.from_dict(document_of(url)))
        finally:
            server.should_exit = True
            thread.join()


def document_of(url: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(f"{url}/openapi.json", timeout=WITHIN_S).json()
    return document


@pytest.fixture(params=[ADMINISTRATOR, ANALYST])
def role(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def conforms(case: schemathesis.Case[Any], response: schemathesis.Response) -> None:
    case.validate_response(response, checks=CHECKS.get_by_names(CHECKED))  # type: ignore[arg-type]


def test_each_link_leads_to_an_answer_that_conforms(role: str, served: Served) -> None:
    answered: Counter[str] = Counter()
    known: dict[str, Any] = {"index": 0, "name": SEEN, "fingerprint": "abc"}
    # Lists are empty until something was created.
    for link in sorted(LINKS, key=lambda link: link.source.startswith("GET")):
        source = sensible(served, link.source, known)
        response = sent(source, role, served)
        described = source.operation.definition.raw["responses"][str(response.status_code)].get("links", {})
        if response.status_code >= 300:
            assert (role, response.status_code) == (ANALYST, 403), (link, response.text)
            continue
        target = sensible(served, link.target, known)
        expressions = described[link.name]["parameters"]
        for name, expression in expressions.items():
            value = value_of(expression, source, response)
            if name == "if-match":
                target.headers[name] = value
            elif (name, link.name) == ("name", "POST_tables_by_name_maintenance"):
                # The first table of a page may be one that this role may only describe.
                target.path_parameters[name] = SEEN
            else:
                target.path_parameters[name] = known[name] = value
        answered[link.name] += sent(target, role, served).status_code < 300
    missing = {link.name for link in LINKS if not answered[link.name]}
    of_administrators = {"DELETE_keys_by_key_id", "PUT_policies", "DELETE_filters_by_fingerprint"}
    # No query has collected keys, so the filter that a link names is not there: its deletion is a 200.
    assert missing == (set() if role == ADMINISTRATOR else of_administrators)


def sensible(served: Served, label: str, known: dict[str, Any]) -> schemathesis.Case[Any]:
    """Returns a request as a caller would send it."""
    method, path = label.split(" ")
    case = served.schema[path][method].Case(path_parameters=dict(known))
    if label in SENSIBLE:
        case.body, case.media_type = named(SENSIBLE[label], SEEN), "application/json"
    if label == "PUT /policies":
        case.query = {"dryRun": "true"}
    return case


def named(body: dict[str, Any], table: str) -> dict[str, Any]:
    if "sql" in body and "name" not in body:
        return {"sql": f"{SELECT_FROM}{table}", "waitTimeout": "10s"}
    return body | ({"table": table} if "table" in body else {})


def sent(case: schemathesis.Case[Any], role: str, served: Served) -> schemathesis.Response:
    response = case.call(base_url=served.url, headers={"Authorization": f"Bearer {TOKENS[role]}"})
    conforms(case, response)
    served.gateway.maintenances.run_open()
    return response


def value_of(expression: str, case: schemathesis.Case[Any], response: schemathesis.Response) -> Any:
    """Returns the value of one of OpenAPI's runtime expressions."""
    if expression.startswith(FROM_PATH):
        return case.path_parameters[expression.removeprefix(FROM_PATH)]
    if expression == "$response.header.ETag":
        return response.headers["etag"][0]
    found = response.json()
    for step in expression.removeprefix(f"{FROM_BODY}/").split("/"):
        if step.isdigit() and not found:
            # The list has no entry for this caller.
            return "abc"
        found = found[int(step) if step.isdigit() else step]
    return found


def test_scenarios_of_requests_conform(role: str, served: Served) -> None:
    served.schema.config.update(base_url=served.url)
    machine = served.schema.as_state_machine()

    class Scenario(machine):  # type: ignore[misc,valid-type]
        def setup(self) -> None:
            self.number = 0

        def get_call_kwargs(self, case: schemathesis.Case[Any]) -> dict[str, Any]:  # noqa: ARG002
            return {"headers": {"Authorization": f"Bearer {TOKENS[role]}"}}

        def before_call(self, case: schemathesis.Case[Any]) -> None:
            self.number += 1
            if case.meta is None or case.meta.generation.mode is GenerationMode.POSITIVE:
                make_sensible(case, self.number)

        def validate_response(
            self, response: schemathesis.Response, case: schemathesis.Case[Any], **_: Any
        ) -> None:
            conforms(case, response)
            assert response.status_code != 401
            served.gateway.maintenances.run_open()

    Scenario.run(
        settings=settings(
            max_examples=SCENARIOS,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
    )


of_administrators = openapi.from_dict(create_app(SETTINGS, PolicedGateway.unused).openapi()).include(
    path_regex="^/(keys|policies|audit|filters|caches)"
)


@of_administrators.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_to_an_administrator_is_as_described(
    case: schemathesis.Case[Any], served: Served
) -> None:
    if case.path == "/policies":
        case.query = {"dryRun": "true"}
    case.call_and_validate(
        base_url=served.url,
        headers={"Authorization": f"Bearer {TOKENS[ADMINISTRATOR]}"},
        checks=CHECKS.get_by_names(CHECKED),  # type: ignore[arg-type]
    )


def make_sensible(case: schemathesis.Case[Any], number: int) -> None:
    """Names a table that exists in every request, and sends every second body as a caller would."""
    table, label = TABLES[number % len(TABLES)], f"{case.method} {case.path}"
    if "name" in (case.path_parameters or {}):
        case.path_parameters["name"] = table
    if label == "PUT /policies":
        # The requests that follow need the policies as they are.
        case.query = {"dryRun": "true"}
    if label in SENSIBLE and number % 2 and case.media_type == "application/json":
        case.body = named(SENSIBLE[label], table)


def test_every_link_leads_from_a_served_operation_to_another(served: Served) -> None:
    paths = document_of(served.url)["paths"]
    ids = {
        operation["operationId"]: operation
        for operations in paths.values()
        for operation in operations.values()
    }
    found = 0
    for operations in paths.values():
        for operation in operations.values():
            for answer in operation["responses"].values():
                for link in answer.get("links", {}).values():
                    found += 1
                    names = {each["name"] for each in ids[link["operationId"]].get("parameters", ())}
                    assert set(link["parameters"]) <= names
    assert found >= len(LINKS)


def test_without_a_token_every_operation_but_the_probes_is_a_401(served: Served) -> None:
    asked = 0
    for found in served.schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        case = operation.Case(
            path_parameters={"query_id": "x", "session_id": "x", "index": 0, "name": SEEN} | _IDS
        )
        response = case.call(base_url=served.url, headers={"Content-Type": "application/json"})
        is_open = operation.path in OPEN_PATHS
        assert (response.status_code == 401) != is_open, operation.label
        case.validate_response(response, checks=CHECKS.get_by_names(CHECKED[:-1]))  # type: ignore[arg-type]
        asked += 1
    assert asked == sum(map(len, document_of(served.url)["paths"].values()))


_IDS = dict.fromkeys(
    ("ingest_id", "stream_id", "maintenance_id", "trial_id", "fingerprint", "key_id", "saved_query_id"),
    "0" * 16,
)


@pytest.mark.parametrize("name", ["since", "until"])
def test_a_bare_number_is_not_a_time_of_the_audit_log(name: str, served: Served) -> None:
    headers = {"Authorization": f"Bearer {TOKENS[ADMINISTRATOR]}"}
    for value, status in (("0.5", 422), ("1767225600", 422), ("2026-01-01T00:00:00Z", 200)):
        answer = httpx.get(f"{served.url}/audit", params={name: value}, headers=headers, timeout=WITHIN_S)
        assert answer.status_code == status
