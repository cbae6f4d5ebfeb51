"""Tests how a client cancels a query whose id it never got."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest

from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


async def test_a_query_is_canceled_by_the_id_that_its_caller_gave_it(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add("select 1")
    request_id = str(uuid4())
    sent = await client.post("/query", json={"sql": "select 1", "requestId": request_id, "waitTimeout": "0s"})
    for _ in range(2):
        answer = await client.delete("/query", params={"requestId": request_id, "waitTimeout": "5s"})
        assert answer.status_code == 200
        assert answer.json()["queryId"] == sent.json()["queryId"]
        assert answer.json()["status"]["state"] == "CANCELED"


async def test_an_id_under_which_nothing_was_sent_is_not_found(client: httpx.AsyncClient) -> None:
    answer = await client.delete("/query", params={"requestId": str(uuid4())})
    assert (answer.status_code, answer.json()["code"]) == (404, "QUERY_NOT_FOUND")


@pytest.mark.parametrize("query", ["", "?requestId=1", "?requestId=", "?principal=ann"])
async def test_it_needs_an_id(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.delete(f"/query{query}")).status_code == 422
