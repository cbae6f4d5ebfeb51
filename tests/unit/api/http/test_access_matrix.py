"""Each role at each endpoint that names a table: a 403, or something else."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

import httpx
import pytest

from api.bootstrap.settings import Settings
from service.model.policies.actions import Action
from service.model.policies.policies import Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import TABLE, FakeGateway
from tests.fakes.policy_store import FakePolicyStore
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

EVERYTHING = TablePattern.parse("*.*.*")
RETURNS = TablePattern.parse(str(TABLE))
ROLES = {
    **{str(action): (Grant(str(action), action, RETURNS),) for action in Action},
    "everything": (Grant("everything", Action.ADMIN, EVERYTHING),),
    "denied": (
        Grant("denied", Action.ADMIN, EVERYTHING),
        *(Grant("denied", action, RETURNS, is_denial=True) for action in Action),
    ),
    "some": (Grant("some", Action.SELECT, RETURNS),),
    "none": (),
}
TABLES = (TABLE, TableName("lake", "tpcds", "item"), TableName("other", "hr", "salaries"))
ID = UUID(int=9)
ENDPOINTS = (
    ("GET", "/tables/{table}", Action.DESCRIBE),
    ("GET", "/tables/{table}/maintenance", Action.DESCRIBE),
    ("GET", f"/tables/{{table}}/maintenance/{ID}", Action.DESCRIBE),
    ("POST", "/tables/{table}/maintenance", Action.MAINTAIN),
)
OF_ADMINS = (
    ("GET", "/filters"),
    ("DELETE", "/filters"),
    ("DELETE", "/filters/abc"),
    ("GET", "/caches"),
    ("DELETE", "/caches/tables"),
    ("GET", "/replicas"),
)
MADE_BY = {Action.DESCRIBE: set(Action), Action.MAINTAIN: {Action.MAINTAIN, Action.ADMIN}}


def token(role: str) -> str:
    return f"token-of-{role}-with-many-characters"


SETTINGS = Settings(
    api_tokens={role: sha256(token(role).encode()).hexdigest() for role in ROLES},
    principal_roles={role: [role] for role in ROLES},
)


def live() -> LivePolicies:
    grants = tuple(grant for grants in ROLES.values() for grant in grants)
    policies = PolicySet(1, grants, (RowFilter("some", RETURNS, "sr_returned_date_sk < 3"),))
    found = LivePolicies(FakePolicyStore(policies=policies), FakeClock())
    found.refresh()
    return found


def headers(role: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(role)}"}


def is_allowed(role: str, action: Action, table: TableName) -> bool:
    if role in ("everything", "denied"):
        return role == "everything" or table != TABLE
    granted = {grant.action for grant in ROLES[role]}
    return table == TABLE and bool(granted & MADE_BY[action])


async def send(client: httpx.AsyncClient, method: str, path: str, role: str) -> httpx.Response:
    body = {"operations": ["compact"]} if method == "POST" else None
    return await client.request(method, path, headers=headers(role), json=body)


async def test_a_role_reaches_the_tables_that_it_may(running: Running, gateway: FakeGateway) -> None:
    gateway._policies = live()
    async with running(SETTINGS) as client:
        for role in ROLES:
            for method, path, action in ENDPOINTS:
                for table in TABLES:
                    answer = await send(client, method, path.format(table=table), role)
                    cell = (role, method, path, str(table), answer.text)
                    assert (answer.status_code == 403) != is_allowed(role, action, table), cell
                    assert answer.status_code < 500, cell


async def test_the_maintenance_of_a_table_says_whether_a_role_may_request_it(
    running: Running, gateway: FakeGateway
) -> None:
    gateway._policies = live()
    async with running(SETTINGS) as client:
        for role in (each for each in ROLES if is_allowed(each, Action.DESCRIBE, TABLE)):
            listed = await client.get(f"/tables/{TABLE}/maintenance", headers=headers(role))
            assert listed.json()["mayRequest"] == is_allowed(role, Action.MAINTAIN, TABLE), role


async def test_a_listing_has_the_tables_that_a_role_may_know(running: Running, gateway: FakeGateway) -> None:
    gateway._policies = live()
    async with running(SETTINGS) as client:
        for role in ROLES:
            listed = (await client.get("/tables", headers=headers(role))).json()["tables"]
            assert [table["name"] for table in listed] == (
                [str(TABLE)] if is_allowed(role, Action.DESCRIBE, TABLE) else []
            )


async def test_only_who_administers_all_tables_sees_the_filters(
    running: Running, gateway: FakeGateway
) -> None:
    gateway._policies = live()
    async with running(SETTINGS) as client:
        for role in ROLES:
            for method, path in OF_ADMINS:
                answer = await send(client, method, path, role)
                assert (answer.status_code == 200) == (role == "everything"), (role, path)


async def test_who_does_not_see_every_row_gets_no_counts(running: Running, gateway: FakeGateway) -> None:
    gateway._policies = live()
    async with running(SETTINGS) as client:
        some, every = [
            (await client.get(f"/tables/{TABLE}", headers=headers(role))).json()
            for role in ("some", "select")
        ]
    assert (every["recordCount"], every["dataFileCount"]) == (287_867, 2003)
    assert (some["recordCount"], some["recordCountAtMost"]) == (None, None)
    assert (some["dataFileCount"], some["totalBytes"]) == (0, 0)
    assert some["columns"] == every["columns"]


async def test_only_an_administrator_by_policies_lists_and_cancels_queries_of_others(
    running: Running, gateway: FakeGateway
) -> None:
    gateway._policies = live()
    gateway.queries.unfinished.add("SELECT 1")
    async with running(SETTINGS) as client:
        sent = await client.post(
            "/query", headers=headers("select"), json={"sql": "SELECT 1", "waitTimeout": "0s"}
        )
        path = f"/query/{sent.json()['queryId']}"
        for role in ROLES.keys() - {"select", "everything"}:
            assert (await client.get("/query?principal=select", headers=headers(role))).json()[
                "queries"
            ] == []
            for method, address in (
                ("GET", path),
                ("DELETE", path),
                ("GET", f"{path}/chunks/0"),
                ("GET", path.replace("query", "explain")),
            ):
                assert (await client.request(method, address, headers=headers(role))).status_code == 404
        boss = headers("everything")
        listed = (await client.get("/query?principal=select", headers=boss)).json()["queries"]
        assert [entry["state"] for entry in listed] == ["RUNNING"]
        await client.post("/query", headers=headers("some"), json={"sql": "SELECT 2"})
        everyones = (await client.get("/query?principal=*", headers=boss)).json()["queries"]
        assert {entry["principal"] for entry in everyones} == {"select", "some"}
        assert (await client.get("/query?principal=*", headers=headers("some"))).json()["queries"] == []
        assert (await client.get(path, headers=boss)).status_code == 404
        assert (await client.delete(path, headers=boss)).status_code == 204
        assert (await client.get(path, headers=headers("select"))).json()["status"]["state"] == "CANCELED"
        assert (await client.delete(f"/query/{ID}", headers=boss)).status_code == 404


async def test_without_policies_nobody_lists_queries_of_others(
    running: Running,
) -> None:
    async with running(SETTINGS) as client:
        sent = await client.post("/query", headers=headers("select"), json={"sql": "SELECT 1"})
        boss = headers("everything")
        assert (await client.get("/query?principal=select", headers=boss)).json()["queries"] == []
        assert (await client.delete(f"/query/{sent.json()['queryId']}", headers=boss)).status_code == 404


async def test_the_summary_of_ingests_has_the_tables_that_a_caller_may_know(
    running: Running, gateway: FakeGateway
) -> None:
    gateway._policies = live()
    async with running(SETTINGS) as client:
        for role in ("select", "some", "none", "everything"):
            found = (await client.get("/ingest/summary", headers=headers(role))).json()["tables"]
            assert bool(found) == (role == "everything")
