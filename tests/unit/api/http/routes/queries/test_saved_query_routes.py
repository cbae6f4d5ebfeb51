"""Tests saved queries over HTTP: whose they are, what is sent, and what is refused."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.bootstrap.settings import Settings
from service.saved_queries.saved_query_service import SavedQueryService, SavedTextBounds
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.fakes.saved_queries import FakeSavedQueryStore, fake_saved_queries
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

ADA, BOB = ({"Authorization": f"Bearer {name}"} for name in ("ada", "bob"))
SETTINGS = Settings(api_tokens={name: hashlib.sha256(name.encode()).hexdigest() for name in ("ada", "bob")})
SALES = {"name": "Sales", "sql": "SELECT 1", "catalog": "lake", "schema": "shop", "shared": False}
HOSTILE = "<img src=x onerror=hacked=1>'); DROP TABLE saved_queries; --"
NOWHERE = "/saved-queries/00000000-0000-0000-0000-000000000000"


class _Gateway(FakeGateway):
    def use(self, saved_queries: SavedQueryService) -> None:
        self._saved_queries = saved_queries


@pytest.fixture
def gateway() -> _Gateway:
    return _Gateway()


@pytest.fixture
async def client(running: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with running(SETTINGS) as client:
        yield client


async def saved(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/saved-queries", json=SALES | fields, headers=ADA)
    assert answer.status_code == 201, answer.text
    assert answer.headers["ETag"] == '"1"'
    found: dict[str, Any] = answer.json()
    return found


async def names(client: httpx.AsyncClient, who: dict[str, str], **asked: Any) -> list[str]:
    answer = await client.get("/saved-queries", params=asked, headers=who)
    assert answer.status_code == 200, answer.text
    return [each["name"] for each in answer.json()["savedQueries"]]


async def test_a_query_is_saved_and_read(client: httpx.AsyncClient) -> None:
    made = await saved(client)
    assert made == {
        "savedQueryId": made["savedQueryId"],
        "owner": "ada",
        "isOwn": True,
        **SALES,
        "version": 1,
        "createdAt": "2026-01-01T00:00:00Z",
        "changedAt": "2026-01-01T00:00:00Z",
    }
    answer = await client.get(f"/saved-queries/{made['savedQueryId']}", headers=ADA)
    assert (answer.json(), answer.headers["ETag"]) == (made, '"1"')


async def test_a_shared_query_is_read_by_others_and_changed_by_its_owner_alone(
    client: httpx.AsyncClient,
) -> None:
    shared, private = await saved(client, shared=True), await saved(client, name="Mine")
    place = f"/saved-queries/{shared['savedQueryId']}"
    found = await client.get(place, headers=BOB)
    assert (found.status_code, found.json()["isOwn"], found.json()["owner"]) == (200, False, "ada")
    assert await names(client, BOB) == ["Sales"]
    assert await names(client, BOB, scope="OTHERS") == ["Sales"]
    assert await names(client, BOB, scope="OWN") == []
    changed = await client.put(place, json=SALES, headers=BOB | {"If-Match": '"1"'})
    deleted = await client.delete(place, headers=BOB)
    assert {changed.status_code, deleted.status_code} == {403}
    assert {changed.json()["code"], deleted.json()["code"]} == {"SAVED_QUERY_NOT_OWNED"}
    missing = await client.get(f"/saved-queries/{private['savedQueryId']}", headers=BOB)
    assert (missing.status_code, missing.json()["code"]) == (404, "SAVED_QUERY_NOT_FOUND")


async def test_a_change_needs_the_version_that_was_read(client: httpx.AsyncClient) -> None:
    place = f"/saved-queries/{(await saved(client))['savedQueryId']}"
    body = SALES | {"sql": "SELECT 2", "shared": True}
    blind = await client.put(place, json=body, headers=ADA)
    assert (blind.status_code, blind.json()["code"]) == (428, "SAVED_QUERY_VERSION_REQUIRED")
    changed = await client.put(place, json=body, headers=ADA | {"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["ETag"], changed.json()["sql"]) == (200, '"2"', "SELECT 2")
    late = await client.put(place, json=SALES, headers=ADA | {"If-Match": '"1"'})
    assert (late.status_code, late.json()["code"]) == (412, "SAVED_QUERY_CHANGED")
    late = await client.delete(place, headers=ADA | {"If-Match": '"1"'})
    assert late.status_code == 412
    assert (await client.get(place, headers=ADA)).json()["sql"] == "SELECT 2"
    gone = await client.delete(place, headers=ADA | {"If-Match": '"2"'})
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(place, headers=ADA)).status_code == 404


@pytest.mark.parametrize("version", ["7", "*", 'W/"1"', '""', '"1", "2"', '"9999999999999999999"'])
async def test_a_version_that_is_not_one_is_refused(client: httpx.AsyncClient, version: str) -> None:
    place = f"/saved-queries/{(await saved(client))['savedQueryId']}"
    for answer in (
        await client.put(place, json=SALES, headers=ADA | {"If-Match": version}),
        await client.delete(place, headers=ADA | {"If-Match": version}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")


async def test_pages_are_followed_by_their_token_to_the_last(client: httpx.AsyncClient) -> None:
    expected = {f"q{number}" for number in range(5)}
    for name in expected:
        await saved(client, name=name)
    found: list[str] = []
    asked: dict[str, Any] = {"limit": 2}
    while True:
        page = (await client.get("/saved-queries", params=asked, headers=ADA)).json()
        found += [each["name"] for each in page["savedQueries"]]
        if page["nextPageToken"] is None:
            break
        asked["pageToken"] = page["nextPageToken"]
    assert (len(found), set(found)) == (5, expected)


async def test_hostile_names_and_texts_stay_as_they_are(client: httpx.AsyncClient) -> None:
    made = await saved(client, name=HOSTILE, sql=HOSTILE, catalog=HOSTILE, schema=HOSTILE)
    found = (await client.get(f"/saved-queries/{made['savedQueryId']}", headers=ADA)).json()
    assert {found[field] for field in ("name", "sql", "catalog", "schema")} == {HOSTILE}
    assert await names(client, ADA, name="onerror") == [HOSTILE]
    assert await names(client, ADA, name="%") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "  "},
        {"name": "a\nb"},
        {"name": "a\0"},
        {"name": "a" * 1_001},
        {"name": None},
        {"sql": ""},
        {"sql": "\0"},
        {"sql": 7},
        {"catalog": ""},
        {"shared": "yes"},
        {"owner": "bob"},
    ],
    ids=str,
)
async def test_a_body_that_is_not_one_is_refused(client: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    answer = await client.post("/saved-queries", json=SALES | fields, headers=ADA)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
    assert await names(client, ADA) == []


async def test_the_operators_bounds_hold(client: httpx.AsyncClient, gateway: _Gateway) -> None:
    store = FakeSavedQueryStore(FakeClock(), max_of_caller=1)
    gateway.use(fake_saved_queries(store, SavedTextBounds(max_name_characters=5, max_bytes=10)))
    made = await saved(client, name="ünïcö", sql="SELECT 1")
    place = f"/saved-queries/{made['savedQueryId']}"
    for fields in ({"name": "Sales!", "sql": "a"}, {"name": "a", "sql": "ü" * 6}):
        for answer in (
            await client.post("/saved-queries", json=SALES | fields, headers=ADA),
            await client.put(place, json=SALES | fields, headers=ADA | {"If-Match": '"1"'}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (422, "SAVED_QUERY_TOO_LARGE")
    answer = await client.post("/saved-queries", json=SALES, headers=ADA)
    assert (answer.status_code, answer.json()["code"]) == (409, "TOO_MANY_SAVED_QUERIES")


async def test_what_is_not_there_is_named(client: httpx.AsyncClient) -> None:
    for answer in (
        await client.get(NOWHERE, headers=ADA),
        await client.put(NOWHERE, json=SALES, headers=ADA | {"If-Match": '"1"'}),
        await client.delete(NOWHERE, headers=ADA),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "SAVED_QUERY_NOT_FOUND")


async def test_a_store_that_is_down_is_named(client: httpx.AsyncClient, gateway: _Gateway) -> None:
    store = FakeSavedQueryStore(FakeClock())
    store.is_down = True
    gateway.use(fake_saved_queries(store))
    answer = await client.get("/saved-queries", headers=ADA)
    assert (answer.status_code, answer.json()["code"]) == (503, "METRICS_STORE_DOWN")


async def test_changes_are_audited(client: httpx.AsyncClient, gateway: _Gateway) -> None:
    saved_query_id = (await saved(client))["savedQueryId"]
    place = f"/saved-queries/{saved_query_id}"
    await client.put(place, json=SALES, headers=ADA | {"If-Match": '"1"'})
    await client.delete(place, headers=ADA)
    found = [(event.action, event.details.target) for event in gateway.trail.events]
    actions = ("SAVED_QUERY_CREATED", "SAVED_QUERY_CHANGED", "SAVED_QUERY_DELETED")
    assert found == [(action, saved_query_id) for action in actions]
