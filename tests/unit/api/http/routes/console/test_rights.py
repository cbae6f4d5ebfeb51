"""Tests which parts of the console a caller is offered, and that the routes behind them agree."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from service.gateway import Gateway
from service.model.policies.actions import Action
from service.model.policies.policies import Grant, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.policies.live_policies import LivePolicies
from tests.fakes.api_keys import fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.fakes.policies import fake_policies
from tests.fakes.policy_store import FakePolicyStore
from tests.unit.api.conftest import client_of

pytestmark = pytest.mark.anyio

NAMES = ("ops", "ann", "dora", "rob")
TOKENS = {name: hashlib.sha256(name.encode()).hexdigest() for name in NAMES}
ROLES = {"ann": ["analyst"], "dora": ["steward"], "rob": ["owner"]}
PATHS = {
    "filters": "/filters",
    "replicas": "/replicas",
    "keys": "/keys",
    "policies": "/policies",
    "audit": "/audit",
}


def settings(**more: Any) -> Settings:
    return Settings(api_tokens=TOKENS, admins=("ops",), principal_roles=ROLES, api_keys=True, **more)


def gateway_with_policies() -> FakeGateway:
    clock = FakeClock()
    gateway, store = FakeGateway(), FakePolicyStore(clock)
    everything, some = TablePattern.parse("*.*.*"), TablePattern.parse("lake.*.*")
    grants = (
        Grant("steward", Action.ADMIN, everything),
        Grant("analyst", Action.SELECT, some),
        Grant("owner", Action.ADMIN, some),
    )
    store.replace(PolicySet(grants=grants), expected_version=0, by="test")
    live = LivePolicies(store, clock)
    live.refresh()
    gateway._policies = live
    gateway._policy_service = fake_policies(lambda: gateway.tables(), store, live=live)
    gateway._api_keys = fake_api_keys(clock)
    return gateway


def as_(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


async def rights_of(client: httpx.AsyncClient, **headers: str) -> set[str]:
    answer = await client.get("/console/session", headers=headers)
    assert answer.status_code == 200
    return set(answer.json()["rights"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ops", {"audit", "keys", "policies"}),
        ("dora", {"filters", "replicas", "allQueries", "policies"}),
        ("ann", set()),
        ("rob", set()),
    ],
)
async def test_with_policies_rights_are_those_of_the_routes(name: str, expected: set[str]) -> None:
    gateway = gateway_with_policies()
    async with client_of(create_app(settings(), lambda: gateway, clock=FakeClock())) as client:
        found = await rights_of(client, **as_(name))
        answers = {right: await client.get(path, headers=as_(name)) for right, path in PATHS.items()}
    assert found == expected
    allowed = {right for right, answer in answers.items() if answer.status_code == 200}
    assert allowed == expected - {"allQueries"}
    assert {answer.status_code for answer in answers.values()} <= {200, 403}


async def test_while_policies_are_not_known_an_administrator_can_still_read_the_stored_ones() -> None:
    gateway, clock = FakeGateway(), FakeClock()
    store = FakePolicyStore(clock)
    gateway._policies = LivePolicies(store, clock)
    gateway._policy_service = fake_policies(lambda: gateway.tables(), store, live=gateway._policies)
    async with client_of(create_app(settings(), lambda: gateway, clock=clock)) as client:
        assert (await client.get("/policies", headers=as_("ops"))).status_code == 200
        assert await rights_of(client, **as_("ops")) == {"audit", "keys", "policies"}
        assert await rights_of(client, **as_("dora")) == set()


async def test_without_authentication_everyone_sees_the_filters_and_nobody_administers() -> None:
    async with client_of(create_app(Settings(), FakeGateway, clock=FakeClock())) as client:
        assert await rights_of(client) == {"filters", "replicas"}


async def test_while_the_gateway_starts_a_login_is_shown_with_the_rights_that_are_known() -> None:
    may_start = threading.Event()

    def factory() -> Gateway:
        may_start.wait()
        return FakeGateway()

    app = create_app(settings(), factory)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
    ):
        assert await rights_of(client, **as_("ops")) == {"audit", "keys", "policies"}
        assert await rights_of(client, **as_("ann")) == set()
        may_start.set()
        await app.state.app_context.access.opened()
        assert "filters" in await rights_of(client, **as_("ann"))
