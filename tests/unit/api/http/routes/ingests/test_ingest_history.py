from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


async def send(client: httpx.AsyncClient) -> str:
    body = {"table": "lake.logs.events", "records": [{"id": 1}, {"id": 2}], "wait": "ACCEPTED"}
    sent = await client.post("/ingest", json=body)
    assert sent.status_code in (200, 202)
    ingest_id: str = sent.json()["ingestId"]
    return ingest_id


async def test_a_callers_ingests_are_listed(client: httpx.AsyncClient) -> None:
    ingest_id = await send(client)
    assert (await client.get("/ingest")).json() == {
        "ingests": [
            {
                "ingestId": ingest_id,
                "requestId": None,
                "state": "COMMITTED",
                "acceptedAt": "2026-01-01T12:00:00Z",
                "tables": ["lake.logs.events"],
                "records": 2,
                "writeMs": 0,
                "writes": [
                    {
                        "table": "lake.logs.events",
                        "branch": "main",
                        "state": "COMMITTED",
                        "writeSchemaColumnIds": [1, 2],
                        "records": 2,
                        "dataFiles": 1,
                    }
                ],
                "rejectedRecords": 0,
                "links": {"self": f"/ingest/{ingest_id}"},
            }
        ],
        "nextPageToken": None,
    }


async def test_ingests_are_listed_by_state_and_page(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    committed = {await send(client) for _ in range(2)}
    gateway.ingests.delays_commits = True
    accepted = await send(client)
    found = (await client.get("/ingest", params={"state": "ACCEPTED"})).json()
    assert [ingest["ingestId"] for ingest in found["ingests"]] == [accepted]
    asked: dict[str, Any] = {"state": "COMMITTED", "limit": 1}
    first = (await client.get("/ingest", params=asked)).json()
    second = (await client.get("/ingest", params=asked | {"pageToken": first["nextPageToken"]})).json()
    assert {ingest["ingestId"] for ingest in (*first["ingests"], *second["ingests"])} == committed
    assert second["nextPageToken"] is None


async def test_what_cannot_be_asked_for_is_refused(client: httpx.AsyncClient) -> None:
    for asked in ({"state": "LOST"}, {"limit": 0}, {"pageToken": "x"}, {"states": "FAILED"}):
        answer = await client.get("/ingest", params=asked)
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")


async def test_a_summary_says_what_was_written_and_what_it_cost(client: httpx.AsyncClient) -> None:
    found = (await client.get("/ingest/summary", params={"since": "2026-01-01T00:00:00Z"})).json()
    assert found == {
        "since": "2026-01-01T00:00:00Z",
        "tables": [
            {
                "table": "lake.logs.events",
                "ingests": 3,
                "waiting": 1,
                "failedByCode": {"TABLE_CHANGED": 1},
                "records": 30,
                "rejectedRecords": 0,
                "dataFiles": 4,
                "bytes": 500,
                "writeMs": {"p50": 1, "p95": 2, "max": 3},
                "rounds": {
                    "total": 2,
                    "ingestsPerRound": 1.5,
                    "mostIngests": 2,
                    "writeTargetsPerRound": 2.0,
                    "commitMs": {"p50": 4, "p95": 5, "max": 6},
                },
            }
        ],
    }
    other = await client.get("/ingest/summary", params={"table": "lake.logs.others"})
    assert other.json()["tables"] == []
