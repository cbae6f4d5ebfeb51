from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from service.errors.query_errors import QueryFailed
from service.model.query.progress import QueuePlace
from service.model.query.query import QueryState
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


async def send(client: httpx.AsyncClient, sql: str) -> str:
    response = await client.post("/query", json={"sql": sql, "waitTimeout": "0s"})
    query_id: str = response.json()["queryId"]
    return query_id


async def page(client: httpx.AsyncClient, **asked: Any) -> dict[str, Any]:
    response = await client.get("/query", params=asked)
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


async def test_a_callers_queries_are_listed(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.failures["select 1/0"] = QueryFailed("Division by zero.")
    query_id = await send(client, "select 1/0")
    assert await page(client) == {
        "queries": [
            {
                "queryId": query_id,
                "principal": "anonymous",
                "sql": "select 1/0",
                "state": "FAILED",
                "errorCode": "QUERY_FAILED",
                "submittedAt": "2026-01-01T12:00:00Z",
                "queue": None,
                "queuedMs": 0,
                "elapsedMs": 6,
                "rowCount": 0,
                "tags": {},
                "links": {
                    "self": f"/query/{query_id}",
                    "explain": f"/explain/{query_id}",
                    "cancel": f"/query/{query_id}",
                },
            }
        ],
        "nextPageToken": None,
    }


async def test_pages_are_followed_by_their_token_to_the_last(client: httpx.AsyncClient) -> None:
    sent = {await send(client, f"select {number}") for number in range(5)}
    listed: list[str] = []
    asked: dict[str, Any] = {"limit": 2}
    sizes = []
    while True:
        found = await page(client, **asked)
        sizes.append(len(found["queries"]))
        listed += [query["queryId"] for query in found["queries"]]
        if found["nextPageToken"] is None:
            break
        asked["pageToken"] = found["nextPageToken"]
    assert (sizes, set(listed), len(listed)) == ([2, 2, 1], sent, 5)


async def test_only_those_of_a_state_and_of_the_caller_are_listed(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add("select slow")
    running = await send(client, "select slow")
    await send(client, "select 1")
    assert [query["queryId"] for query in (await page(client, state="RUNNING"))["queries"]] == [running]
    assert len((await page(client, principal="anonymous"))["queries"]) == 2
    assert (await page(client, principal="somebody"))["queries"] == []


@pytest.mark.parametrize("token", ["nonsense", "a", "", "MjAyNi0wMS0wMSBhYmM=", "ÿ"])
async def test_a_page_token_that_is_not_ours_is_refused(client: httpx.AsyncClient, token: str) -> None:
    response = await client.get("/query", params={"pageToken": token})
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    assert response.json()["errors"][0]["pointer"] == "/query/pageToken"


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 1001}, {"state": "GONE"}, {"x": 1}])
async def test_a_list_that_cannot_be_given_is_refused(client: httpx.AsyncClient, asked: Any) -> None:
    assert (await client.get("/query", params=asked)).json()["code"] == "INVALID_REQUEST"


async def test_pruning_is_summed_by_table(client: httpx.AsyncClient) -> None:
    for sql in ("select 1", "select 2"):
        await send(client, sql)
    found = (await client.get("/pruning/summary", params={"since": "2026-01-01T12:00:00Z"})).json()
    assert found["since"] == "2026-01-01T12:00:00Z"
    [fact, other] = found["tables"]
    assert fact == {
        "table": "lake.tpcds.store_returns",
        "queries": 2,
        "scans": 2,
        "dataFiles": {"total": 4006, "selected": 732},
        "bytes": {"total": 51_200_000, "selected": 9_800_000},
        "filters": {
            "total": 2,
            "applied": 2,
            "byReason": {"APPLIED": 2},
            "bySource": {"COLLECTED": 2},
            "collectMs": 34,
        },
    }
    assert (other["table"], other["scans"], other["filters"]["applied"]) == ("lake.tpcds.store_sales", 0, 0)


async def test_pruning_of_one_table_and_of_late(client: httpx.AsyncClient) -> None:
    await send(client, "select 1")
    one = (await client.get("/pruning/summary", params={"table": "lake.tpcds.store_sales"})).json()
    assert [table["table"] for table in one["tables"]] == ["lake.tpcds.store_sales"]
    late = (await client.get("/pruning/summary", params={"since": "2026-01-01T12:00:00.5Z"})).json()
    assert late["tables"] == []


@pytest.mark.parametrize("since", ["yesterday", "2026-01-01T12:00:00", "0.5", "2026-01-01"])
async def test_a_moment_that_is_not_spelled_out_with_its_zone_is_refused(
    client: httpx.AsyncClient, since: str
) -> None:
    response = await client.get("/pruning/summary", params={"since": since})
    assert response.json()["errors"][0]["pointer"] == "/query/since"


async def test_queries_that_wait_have_their_places(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.place = QueuePlace(2, 1800, "global")
    gateway.queries.unfinished |= {"select 1", "select 2"}
    waiting, running = await send(client, "select 1"), await send(client, "select 2")
    query = gateway.queries.by_id[UUID(waiting)]
    query.record = replace(query.record, state=QueryState.QUEUED)
    found = {each["queryId"]: each["queue"] for each in (await page(client))["queries"]}
    place = {"position": 2, "estimatedWaitMs": 1800, "group": "global"}
    assert found == {waiting: place, running: None}
