"""The endpoints of policies: who may use them, what they answer, and how changes exclude each other."""

from __future__ import annotations

import hashlib
from typing import Any

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from service.authentication.manage_keys import KeyRequest
from service.errors.unavailable import MetricsStoreDown
from service.model.policies.actions import Action
from service.model.policies.policies import Grant, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from service.policies.manage_policies import PolicyBounds
from tests.fakes.api_keys import fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import TABLE, FakeGateway
from tests.fakes.policies import FakePolicyChecker, fake_policies
from tests.fakes.policy_store import FakePolicyStore
from tests.unit.api.conftest import client_of

pytestmark = pytest.mark.anyio

TOKENS = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("ops", "ann", "dora")}
EVERYTHING = TablePattern.parse("*.*.*")
ANALYST = {
    "grants": [{"tables": "lake.tpcds.*", "actions": ["select", "describe"]}],
    "rowFilters": [{"tables": str(TABLE), "predicate": "sr_store_sk = 1"}],
    "masks": [{"tables": str(TABLE), "column": "sr_fee", "mask": "null"}],
}
DOCUMENT: dict[str, Any] = {"roles": {"analyst": ANALYST}}


class House:
    """A gateway with policies in memory. `ops` is an administrator; `dora` has the role `steward`."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock()
        self.gateway = FakeGateway()
        self.store = FakePolicyStore(self.clock)
        self.checker = FakePolicyChecker()
        self.live: LivePolicies | None = None
        self.settings = Settings(
            api_tokens=TOKENS, admins=("ops",), principal_roles={"dora": ["steward"]}, **settings
        )
        self.use()

    def use(self, bounds: PolicyBounds | None = None) -> None:
        self.gateway._policy_service = fake_policies(
            lambda: self.gateway.tables(), self.store, self.checker, self.live, bounds
        )

    def decide_by_policies(self) -> None:
        self.live = LivePolicies(self.store, self.clock)
        self.live.refresh()
        self.use()

    def client(self, *, keys: bool = False) -> Any:
        if keys:
            self.settings = Settings(**(self.settings.model_dump(exclude_unset=True) | {"api_keys": True}))
            self.gateway._api_keys = fake_api_keys(self.clock)
        return client_of(create_app(self.settings, lambda: self.gateway, clock=self.clock))


@pytest.fixture
def house() -> House:
    return House()


def as_(name: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **headers}


async def put(client: httpx.AsyncClient, version: int, body: object = None, **query: str) -> httpx.Response:
    headers = as_("ops") | {"If-Match": f'"{version}"'}
    return await client.put("/policies", json=body or DOCUMENT, headers=headers, params=query)


async def test_policies_are_put_and_read_again(house: House) -> None:
    async with house.client() as client:
        empty = await client.get("/policies", headers=as_("ops"))
        assert (empty.json(), empty.headers["etag"]) == ({"version": 0, "roles": {}}, '"0"')
        made = await put(client, 0)
        assert (made.status_code, made.headers["etag"]) == (200, '"1"')
        assert (made.json()["version"], made.json()["isDryRun"], made.json()["warnings"]) == (1, False, [])
        read = await client.get("/policies", headers=as_("ops"))
        assert read.json()["version"] == 1
        [role] = read.json()["roles"].values()
        assert role == {"denies": [], "definerViews": [], **ANALYST}
        # The answer can be sent as it is, and then changes nothing.
        same = await client.put("/policies", json=read.json(), headers=as_("ops"))
        assert (same.status_code, same.json()["version"]) == (200, 1)
        assert same.json()["difference"] == {"added": {}, "removed": {}}


async def test_a_dry_run_shows_the_difference_and_changes_nothing(house: House) -> None:
    async with house.client() as client:
        await put(client, 0)
        changed = {
            "roles": {
                "analyst": {
                    **ANALYST,
                    "rowFilters": [],
                    "denies": [{"tables": "*.*.x", "actions": ["select"]}],
                }
            }
        }
        planned = await put(client, 1, changed, dryRun="true")
        assert planned.status_code == 200
        assert "etag" not in planned.headers
        body = planned.json()
        assert (body["version"], body["isDryRun"]) == (2, True)
        assert body["difference"]["removed"]["analyst"]["rowFilters"] == ANALYST["rowFilters"]
        assert body["difference"]["added"]["analyst"]["denies"] == [
            {"tables": "*.*.x", "actions": ["select"]}
        ]
        assert body["warnings"] == ["No table matches *.*.x now."]
        assert house.store.version() == 1


async def test_a_change_to_another_version_is_refused(house: House) -> None:
    async with house.client() as client:
        await put(client, 0)
        late = await put(client, 0, {"roles": {}})
        assert (late.status_code, late.json()["code"]) == (412, "POLICIES_CHANGED")
        missing = await client.put("/policies", json=DOCUMENT, headers=as_("ops"))
        assert (missing.status_code, missing.json()["code"]) == (428, "POLICIES_VERSION_REQUIRED")
        for tag in ("*", "1", 'W/"1"', '"x"'):
            wrong = await client.put("/policies", json=DOCUMENT, headers=as_("ops") | {"If-Match": tag})
            assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "/header/If-Match")
        both = await put(client, 1, {"version": 2, **DOCUMENT})
        assert (both.status_code, both.json()["errors"][0]["pointer"]) == (422, "/version")
        assert house.store.version() == 1


@pytest.mark.parametrize(
    ("role", "pointer", "detail"),
    [
        (
            {"grants": [{"tables": "lake.x", "actions": ["select"]}]},
            "/grants/0/tables",
            "catalog.schema.table",
        ),
        ({"grants": [{"tables": "a.b.c", "actions": ["drop"]}]}, "/grants/0/actions/0", "'select'"),
        ({"grants": [{"tables": "a.b.c", "actions": []}]}, "/grants/0/actions", "at least 1"),
        ({"grant": []}, "/grant", "no field of this name"),
        ({"rowFilters": [{"tables": "a.b.c", "predicate": " "}]}, "/rowFilters/0/predicate", "empty"),
        ({"masks": [{"tables": "a.b.c", "column": "d"}]}, "/masks/0", "either `mask` or `expression`"),
        ({"masks": [{"tables": "a.b.c", "column": "d", "mask": "md5"}]}, "/masks/0/mask", "'null'"),
        ({"definerViews": [{"view": "a.b.*"}]}, "/definerViews/0/view", "without `*`"),
        ({"definerViews": [{"view": "v"}]}, "/definerViews/0/view", "catalog.schema.table"),
        ({"definerViews": [{"view": "a.b.c", "definition": "x"}]}, "/definerViews/0/definition", "64 digits"),
        ({"definerViews": [{"view": "a.b.c", "definer": "x"}]}, "/definerViews/0/definer", "no field"),
    ],
)
async def test_a_document_that_is_not_valid_is_refused_with_the_place(
    house: House, role: dict[str, Any], pointer: str, detail: str
) -> None:
    async with house.client() as client:
        refused = await put(client, 0, {"roles": {"a/b": role}})
    assert refused.status_code == 422
    [fault] = refused.json()["errors"]
    assert fault["pointer"] == f"/roles/a~1b{pointer}"
    assert detail in fault["detail"]


async def test_views_with_a_definer_are_put_with_their_definition_and_read_again(house: House) -> None:
    view, now = TableName.of("lake.tpcds.By_Store"), "3f" * 32
    body = {"roles": {"owner": {"definerViews": [{"view": str(view)}]}}}
    async with house.client() as client:
        refused = await put(client, 0, body)
        assert (refused.status_code, refused.json()["code"]) == (422, "POLICIES_INVALID")
        assert refused.json()["errors"] == [
            {
                "detail": f"{view}: There is no view of this name.",
                "pointer": "/roles/owner/definerViews/0/view",
            }
        ]
        house.checker.views[view] = now
        made = await put(client, 0, body)
        expected = [{"view": str(view), "definition": now}]
        assert made.json()["difference"]["added"]["owner"]["definerViews"] == expected
        read = await client.get("/policies", headers=as_("ops"))
        assert read.json()["roles"]["owner"]["definerViews"] == expected
        house.checker.views[view] = "00" * 32
        planned = await put(client, 1, body, dryRun="true")
        assert planned.json()["difference"] == {"added": {}, "removed": {}}
        [warning] = planned.json()["warnings"]
        assert f"The view {view} has changed" in warning


async def test_sql_that_does_not_fit_is_refused_with_its_place(house: House) -> None:
    house.checker.faulty["sr_store_sk = 1"] = "There is no column sr_store_sk."
    async with house.client() as client:
        for query in ({}, {"dryRun": "true"}):
            refused = await put(client, 0, **query)
            assert (refused.status_code, refused.json()["code"]) == (422, "POLICIES_INVALID")
            assert refused.json()["errors"] == [
                {
                    "detail": f"{TABLE}: There is no column sr_store_sk.",
                    "pointer": "/roles/analyst/rowFilters/0/predicate",
                }
            ]
    assert house.store.load() == PolicySet()


async def test_the_number_of_policies_is_bounded(house: House) -> None:
    house.use(PolicyBounds(max_policies=3))
    async with house.client() as client:
        refused = await put(client, 0)
    assert (refused.status_code, refused.json()["code"]) == (422, "POLICIES_INVALID")


async def test_the_history_says_who_changed_what(house: House) -> None:
    async with house.client() as client:
        await put(client, 0)
        await put(client, 1, {"roles": {"other": {"grants": ANALYST["grants"]}}})
        listed = await client.get("/policies/changes", params={"limit": 1}, headers=as_("ops"))
    [change] = listed.json()["changes"]
    assert (change["version"], change["changedBy"], change["changedAt"]) == (2, "ops", "2026-01-01T00:00:00Z")
    assert list(change["difference"]["added"]) == ["other"]
    assert list(change["difference"]["removed"]) == ["analyst"]


async def test_a_decision_can_be_tried(house: House) -> None:
    async with house.client() as client:
        await put(client, 0)

        async def decide(*roles: str, action: str = "select", table: str = str(TABLE)) -> dict[str, Any]:
            body = {"roles": list(roles), "action": action, "table": table}
            answer = await client.post("/policies/decide", json=body, headers=as_("ops"))
            assert answer.status_code == 200, answer.text
            found: dict[str, Any] = answer.json()
            return found

        assert await decide("analyst") == {
            "version": 1,
            "decision": "ALLOWED",
            "rowFilter": "((sr_store_sk = 1))",
            "masks": {"sr_fee": "if(false, `sr_fee`, NULL)"},
        }
        assert (await decide("analyst", action="insert"))["decision"] == "NOT_GRANTED"
        assert (await decide())["decision"] == "NOT_GRANTED"
        wrong = {"roles": [], "action": "select", "table": "item"}
        refused = await client.post("/policies/decide", json=wrong, headers=as_("ops"))
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/table")


async def refusals(client: httpx.AsyncClient, name: str) -> set[str]:
    headers = as_(name) | {"If-Match": '"0"'}
    asks = [
        client.get("/policies", headers=headers),
        client.get("/policies/changes", headers=headers),
        client.put("/policies", json=DOCUMENT, headers=headers, params={"dryRun": "true"}),
        client.put("/policies", json=DOCUMENT, headers=headers),
        client.post(
            "/policies/decide",
            json={"roles": ["analyst"], "action": "select", "table": str(TABLE)},
            headers=headers,
        ),
    ]
    answers = [await ask for ask in asks]
    return {f"{answer.status_code} {answer.json().get('code', '')}".strip() for answer in answers}


async def test_only_administrators_read_and_change_policies(house: House) -> None:
    async with house.client(keys=True) as client:
        keys = house.gateway.api_keys
        assert await refusals(client, "ann") == {"403 ADMIN_REQUIRED"}
        reader = keys.create(KeyRequest("kim", frozenset({"reader"})), by="test")
        assert await refusals(client, reader.text) == {"403 ADMIN_REQUIRED"}
        admin = keys.create(KeyRequest("kim", frozenset({"admin"})), by="test")
        assert await refusals(client, admin.text) == {"200"}
    async with client_of(create_app(Settings(), lambda: house.gateway)) as anonymous:
        answer = await anonymous.get("/policies")
        # Nobody can be an administrator, so there is nothing to ask.
        assert (answer.status_code, answer.json()["code"]) == (404, "ROUTE_NOT_FOUND")


async def test_a_role_may_be_granted_the_administration_where_policies_decide(house: House) -> None:
    def granted(*grants: Grant) -> None:
        house.store.replace(PolicySet(grants=grants), expected_version=house.store.version(), by="test")
        if house.live is not None:
            house.live.refresh()

    admin = Grant("steward", Action.ADMIN, EVERYTHING)
    granted(admin)
    async with house.client() as client:

        async def status(name: str) -> int:
            answer: httpx.Response = await client.get("/policies", headers=as_(name))
            return answer.status_code

        # Authorization is off.
        assert await status("dora") == 403
        house.decide_by_policies()
        assert (await status("dora"), await status("ann")) == (200, 403)
        granted(Grant("steward", Action.ADMIN, TablePattern.parse("lake.*.*")))
        assert await status("dora") == 403
        granted(admin, Grant("steward", Action.ADMIN, TablePattern.parse("lake.hr.*"), is_denial=True))
        assert await status("dora") == 403
        granted(Grant("steward", Action.SELECT, EVERYTHING))
        assert await status("dora") == 403


async def test_a_store_that_is_down_is_a_503(house: House) -> None:
    house.store.is_down = True
    async with house.client() as client:
        answer = await client.get("/policies", headers=as_("ops"))
        assert (answer.status_code, answer.json()["code"]) == (503, MetricsStoreDown.code)
        assert answer.headers["retry-after"]


async def test_without_known_policies_a_granted_administrator_gets_a_503_and_a_named_one_goes_on(
    house: House,
) -> None:
    house.live = LivePolicies(house.store, house.clock)
    house.use()
    async with house.client() as client:
        answer = await client.get("/policies", headers=as_("dora"))
        assert (answer.status_code, answer.json()["code"]) == (503, "POLICIES_DOWN")
        assert (await client.get("/policies", headers=as_("ops"))).status_code == 200
