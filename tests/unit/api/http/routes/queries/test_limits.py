"""Tests `rowLimit` and `byteLimit` of a query."""

from __future__ import annotations

import httpx
import pytest

from api.bootstrap.settings import Settings
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio
SETTINGS = Settings()


@pytest.mark.parametrize("field", ["rowLimit", "byteLimit"])
@pytest.mark.parametrize("path", ["/query", "/explain", "/describe"])
async def test_max_is_the_operators_bound(
    client: httpx.AsyncClient, gateway: FakeGateway, field: str, path: str
) -> None:
    assert (await client.post(path, json={"sql": "select 1", field: "MAX"})).status_code == 200
    if path == "/query":
        [query] = gateway.queries.by_id.values()
        rows, size = query.request.row_limit, query.request.byte_limit
        row_limits, byte_limits = (
            (SETTINGS.row_limit, SETTINGS.max_row_limit),
            (
                SETTINGS.byte_limit,
                SETTINGS.max_byte_limit,
            ),
        )
        assert (rows, size) == (row_limits[field == "rowLimit"], byte_limits[field == "byteLimit"])


@pytest.mark.parametrize("sent", ["max", "10", 0, -1, 2.5, True, [], 2**60])
async def test_any_other_limit_is_refused(client: httpx.AsyncClient, sent: object) -> None:
    answer = await client.post("/query", json={"sql": "select 1", "rowLimit": sent})
    assert answer.status_code == 422
    [fault] = answer.json()["errors"]
    assert fault["pointer"] == "/rowLimit"


async def test_a_limit_above_the_operators_is_refused_with_it(client: httpx.AsyncClient) -> None:
    more = SETTINGS.max_row_limit + 1
    answer = await client.post("/query", json={"sql": "select 1", "rowLimit": more})
    assert answer.status_code == 422
    assert str(SETTINGS.max_row_limit) in answer.json()["errors"][0]["detail"]
