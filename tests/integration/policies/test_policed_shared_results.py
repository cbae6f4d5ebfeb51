"""Two gateways with one folder of results, under policies: the other one asks what they allow by now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.asking import ask, post, problem, status
from tests.integration.replicas import Replicas, replicas
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

ROLES = ("analyst", "colleague", "auditor", "boss")
TOKENS = {role: f"token-of-the-{role}-7e2b" for role in ROLES}
SALES = "lake.shop.sales"
SQL = "SELECT sale_id, amount FROM sales ORDER BY sale_id"
READ = {"grants": [{"tables": "lake.shop.*", "actions": ["select"]}]}


def filtered(predicate: str) -> dict[str, Any]:
    return READ | {"rowFilters": [{"tables": SALES, "predicate": predicate}]}


class Policed:
    def __init__(self, both: Replicas) -> None:
        self.here, self.there = both.here, both.there

    def client(self, gateway: RunningGateway, caller: str) -> httpx.Client:
        return gateway.client_with(TOKENS[caller])

    def set(self, analyst: dict[str, Any]) -> None:
        """Changes what analysts see, here at once; the other gateway asks the store every two seconds."""
        boss = self.client(self.here, "boss")
        roles = {
            "analyst": analyst,
            "auditor": READ,
            "boss": {"grants": [{"tables": "*.*.*", "actions": ["admin"]}]},
        }
        version = boss.get("/policies").json()["version"]
        answer = boss.put("/policies", json={"version": version, "roles": roles})
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def policed(folder: Path) -> Iterator[Policed]:
    settings = {
        "SLUICE_RESULTS_URL": (folder / "results under policies").as_uri(),
        "SLUICE_API_TOKENS": json.dumps(
            {role: sha256(text.encode()).hexdigest() for role, text in TOKENS.items()}
        ),
        "SLUICE_PRINCIPAL_ROLES": json.dumps(
            {"analyst": ["analyst"], "colleague": ["analyst"], "auditor": ["auditor"], "boss": ["boss"]}
        ),
        "SLUICE_ADMINS": "boss",
        "SLUICE_AUTHORIZATION": "policies",
    }
    with replicas(folder / "policed sharing", settings) as started:
        yield Policed(started)


def has_rows(client: httpx.Client, query_id: str) -> bool:
    """Whether this gateway serves the result: the record of a query takes a moment to arrive."""
    found = client.get(f"/query/{query_id}")
    return found.status_code == 200 and found.json()["manifest"] is not None


def test_the_other_gateway_serves_it_while_policies_allow_the_same(policed: Policed) -> None:
    policed.set(filtered("sale_id < 3000"))
    here, there = (policed.client(gateway, "analyst") for gateway in (policed.here, policed.there))
    query_id = ask(here, SQL)["queryId"]
    until(lambda: has_rows(there, query_id))
    assert status(there, query_id)["result"] == status(here, query_id)["result"]
    path = f"/query/{query_id}/chunks/0"
    assert there.get(path).content == here.get(path).content
    for other in ("colleague", "auditor", "boss"):
        problem(policed.client(policed.there, other).get(path), 404, "QUERY_NOT_FOUND")
    policed.set(filtered("sale_id < 2000"))
    problem(here.get(path), 410, "RESULT_EXPIRED")
    until(lambda: there.get(path).status_code == 410)
    problem(there.get(path), 410, "RESULT_EXPIRED")
    assert status(there, query_id)["manifest"] is None


def test_it_is_gone_there_without_the_grant(policed: Policed) -> None:
    policed.set(READ)
    there = policed.client(policed.there, "analyst")
    query_id = ask(policed.client(policed.here, "analyst"), SQL)["queryId"]
    until(lambda: has_rows(there, query_id))
    policed.set({"grants": [{"tables": "lake.other.*", "actions": ["select"]}]})
    until(lambda: there.get(f"/query/{query_id}/chunks/0").status_code == 410)
    problem(there.get(f"/query/{query_id}/result"), 410, "RESULT_EXPIRED")


def test_a_result_that_was_reused_is_served_at_the_other_too(policed: Policed) -> None:
    policed.set(filtered("sale_id < 4000"))
    first = ask(policed.client(policed.here, "analyst"), SQL, reuseResult=True)
    there = policed.client(policed.there, "colleague")
    until(lambda: post(there, SQL).status_code == 200)
    again = ask(there, SQL, reuseResult=True)
    assert again["reused"]["from"] == first["queryId"] != again["queryId"]
    colleague = policed.client(policed.here, "colleague")
    until(lambda: has_rows(colleague, again["queryId"]))
    assert status(colleague, again["queryId"])["result"]["rows"] == first["result"]["rows"]
    # An auditor sees more rows, and gets none of these.
    full = ask(policed.client(policed.there, "auditor"), SQL, reuseResult=True)
    assert full["reused"] is None
    assert len(full["result"]["rows"]) > len(first["result"]["rows"])
