from __future__ import annotations

import httpx
import pytest

from tests.fakes.filters import Collecting, date_filter
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


def fill(gateway: FakeGateway, *fingerprints: str) -> None:
    for fingerprint in fingerprints:
        gateway.filter_cache.obtain(date_filter(fingerprint), Collecting(), 1)


async def test_the_filter_cache_is_listed(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    fill(gateway, "f1")
    response = await client.get("/filters")
    assert response.status_code == 200
    assert response.json() == {
        "filters": [
            {
                "fingerprint": "f1",
                "tables": ["lake.tpcds.date_dim"],
                "columns": ["d_date_sk"],
                "predicate": "d_year = 2000",
                "snapshotIds": [2],
                "values": 366,
                "form": "IN",
                "hasNull": False,
                "min": ["2451545"],
                "max": ["2451910"],
                "sample": [[str(day)] for day in range(2451545, 2451555)],
                "rangeCount": 0,
                "ranges": [],
                "bytes": 2928,
                "exceedsThreshold": False,
                "createdAt": "2026-01-01T00:00:00Z",
                "expiresAt": "2026-01-02T00:00:00Z",
            }
        ]
    }


async def test_no_more_are_listed_than_were_asked_for(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    fill(gateway, "f1", "f2", "f3")
    assert len((await client.get("/filters?limit=2")).json()["filters"]) == 2


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "count=1"])
async def test_a_wrong_limit_is_a_422(client: httpx.AsyncClient, query: str) -> None:
    response = await client.get(f"/filters?{query}")
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")


async def test_one_is_deleted_or_all(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    fill(gateway, "f1", "f2", "f3")
    assert (await client.delete("/filters/f2")).json() == {"deleted": 1}
    assert (await client.delete("/filters/f2")).json() == {"deleted": 0}
    assert sorted(gateway.filter_cache.stored) == ["f1", "f3"]
    assert (await client.delete("/filters")).json() == {"deleted": 2}


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("DELETE", ""), ("DELETE", "/f1")])
async def test_a_cache_that_is_down_is_a_503(
    client: httpx.AsyncClient, gateway: FakeGateway, method: str, path: str
) -> None:
    gateway.filter_cache.is_down = True
    response = await client.request(method, f"/filters{path}")
    assert (response.status_code, response.json()["code"]) == (503, "FILTER_CACHE_DOWN")
    assert response.headers["retry-after"] == "5"
