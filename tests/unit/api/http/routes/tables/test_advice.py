"""GET /advice/{name}."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from tests.fakes.gateway import ADVICE_BOUNDS, TABLE, FakeGateway
from tests.fakes.recorded_scans import FILES, SECRET, record_scans

pytestmark = pytest.mark.anyio

PATH = f"/advice/{TABLE}"


async def test_advice_has_counts_and_statements_and_no_value(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    record_scans(gateway)
    response = await client.get(PATH)
    assert response.status_code == 200, response.text
    found = response.json()
    assert (found["table"], found["snapshotId"], found["dataFiles"]) == (str(TABLE), "7", FILES)
    workload = found["workload"]
    assert (workload["scans"], workload["unexplainedScans"]) == (2, 0)
    assert workload["columns"] == [{"column": "day", "scans": 2, "equalityScans": 2}]
    assert workload["simulated"] == {"dataFiles": 2 * FILES, "bytes": 2 * FILES * 4_000}
    assert {advice["kind"] for advice in found["advice"]} >= {"SORT", "PARTITION"}
    best = found["advice"][0]
    assert best["before"] == workload["simulated"]
    assert best["savedBytes"] == best["before"]["bytes"] - best["after"]["bytes"] > 0
    assert best["savedShare"] == pytest.approx(best["savedBytes"] / best["before"]["bytes"], abs=1e-4)
    assert all("`tpcds`.`store_returns`" in text for text in best["statements"])
    assert str(SECRET) not in "".join(
        advice["reason"] + str(advice["statements"]) for advice in found["advice"]
    )


async def test_advice_is_for_the_days_that_are_asked_for(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    record_scans(gateway)
    one_day = (await client.get(PATH, params={"days": 1})).json()["workload"]
    assert (one_day["since"], one_day["scans"]) == ("2025-12-31T12:00:00Z", 1)
    assert (await client.get(PATH, params={"days": 3650})).json()["workload"]["scans"] == 2


async def test_a_table_that_was_not_read_has_no_advice(client: httpx.AsyncClient) -> None:
    found = (await client.get(PATH)).json()
    assert found["advice"] == []
    assert found["notes"] == ["No scan of the table is recorded that can be simulated."]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/advice/lake.tpcds.gone", 404, "TABLE_NOT_FOUND"),
        ("/advice/gone", 422, "INVALID_REQUEST"),
        (f"{PATH}?days=0", 422, "INVALID_REQUEST"),
        (f"{PATH}?day=1", 422, "INVALID_REQUEST"),
        (f"{PATH}?days=x", 422, "INVALID_REQUEST"),
    ],
)
async def test_a_wrong_request_is_a_problem(
    client: httpx.AsyncClient, path: str, status: int, code: str
) -> None:
    response = await client.get(path)
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_a_table_with_too_many_files_is_a_problem(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    record_scans(gateway)
    layout = gateway.layouts.layouts[TABLE]
    many = replace(layout, files=[layout.files[0]] * (ADVICE_BOUNDS.layout.max_files + 1))
    gateway.layouts.layouts[TABLE] = many
    response = await client.get(PATH)
    assert (response.status_code, response.json()["code"]) == (422, "LAYOUT_UNKNOWN")


async def test_advice_waits_for_no_store_that_is_down(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.recorded.is_down = True
    response = await client.get(PATH)
    assert (response.status_code, response.json()["code"]) == (503, "METRICS_STORE_DOWN")
