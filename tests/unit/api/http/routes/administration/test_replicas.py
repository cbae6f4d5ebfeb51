"""Tests the list of replicas that operators see."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

from service.model.query.replicas import Replica, SeenReplica
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio

STARTED_AT = datetime(2026, 1, 1, tzinfo=UTC)


def seen(number: int, silent_ms: int | None, *, is_this_one: bool = False) -> SeenReplica:
    return SeenReplica(Replica(UUID(int=number), f"host-{number}"), STARTED_AT, silent_ms, 2, is_this_one)


async def test_replicas_are_listed_as_the_store_knows_them(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    assert (await client.get("/replicas")).json() == {"replicas": [], "lostAfterMs": 20_000}
    gateway.queries.replicas = [seen(1, 900, is_this_one=True), seen(2, None)]
    [first, second] = (await client.get("/replicas")).json()["replicas"]
    assert first == {
        "replicaId": str(UUID(int=1)),
        "name": "host-1",
        "startedAt": "2026-01-01T00:00:00Z",
        "silentMs": 900,
        "openQueries": 2,
        "isThisOne": True,
    }
    assert (second["silentMs"], second["isThisOne"]) == (None, False)
    assert len((await client.get("/replicas?limit=1")).json()["replicas"]) == 1


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "other=1"])
async def test_a_wrong_query_string_is_refused(client: httpx.AsyncClient, query: str) -> None:
    answer = await client.get(f"/replicas?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
