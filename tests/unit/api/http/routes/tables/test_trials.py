"""/advice/{name}/trials."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest

from tests.fakes.gateway import TABLE, FakeGateway
from tests.fakes.recorded_scans import record_scans

pytestmark = pytest.mark.anyio

PATH = f"/advice/{TABLE}/trials"


async def test_a_trial_is_begun_followed_and_listed(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    record_scans(gateway)
    begun = await client.post(PATH, json={"kind": "SORT", "days": 7})
    assert begun.status_code == 202, begun.text
    assert (begun.json()["state"], begun.json()["report"]) == ("ADVISING", None)
    gateway.layout_trials.wait()
    ended = await client.get(begun.json()["links"]["self"])
    assert ended.status_code == 200
    found = ended.json()
    assert (found["state"], found["isDropped"], found["snapshotId"]) == ("SUCCEEDED", True, "7")
    report = found["report"]
    assert (report["columns"], report["scans"]) == (["day"], 2)
    assert report["now"] == {"dataFiles": 8, "bytes": 32_000}
    assert report["seen"] == {"dataFiles": 2, "bytes": 1_000}
    predicted = report["predicted"]["bytes"]
    assert report["difference"] == pytest.approx((predicted - 1_000) / 1_000, abs=1e-4)
    # The copy of the fake has the size of the table, and rows are taken to need as much space as now.
    assert report["differenceAtSize"] == report["difference"]
    assert (report["isSizePredicted"], report["tablePredicted"]["bytes"]) == (False, 16_000)
    [one] = report["filters"]
    assert (one["columns"], one["scans"], one["predicted"]) == (["day"], 2, report["predicted"])
    assert "ranges" not in ended.text
    listed = (await client.get(PATH)).json()
    assert (listed["mayRequest"], listed["trials"]) == (True, [found])
    canceled = await client.delete(begun.json()["links"]["self"])
    assert (canceled.status_code, canceled.json()) == (200, found)


async def test_a_trial_that_failed_says_why(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    begun = await client.post(PATH, json={"kind": "COMPACTION"})
    gateway.layout_trials.wait()
    found = (await client.get(begun.json()["links"]["self"])).json()
    assert (found["state"], found["error"]["code"]) == ("FAILED", "ADVICE_NOT_FOUND")


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/advice/lake.tpcds.gone/trials", {"kind": "SORT"}, 404, "TABLE_NOT_FOUND"),
        ("/advice/gone/trials", {"kind": "SORT"}, 422, "INVALID_REQUEST"),
        (PATH, {"kind": "BLOOM_FILTER"}, 422, "INVALID_REQUEST"),
        (PATH, {}, 422, "INVALID_REQUEST"),
        (PATH, {"kind": "SORT", "days": 0}, 422, "INVALID_REQUEST"),
        (PATH, {"kind": "SORT", "columns": ["day"]}, 422, "INVALID_REQUEST"),
    ],
)
async def test_a_wrong_request_is_a_problem(
    client: httpx.AsyncClient, path: str, body: object, status: int, code: str
) -> None:
    response = await client.post(path, json=body)
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_a_second_trial_is_a_conflict(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.layout_trials.log.is_taken = True
    response = await client.post(PATH, json={"kind": "SORT"})
    assert (response.status_code, response.json()["code"]) == (409, "TRIAL_RUNNING")


async def test_an_unknown_trial_is_a_problem(client: httpx.AsyncClient) -> None:
    for response in (await client.get(f"{PATH}/{uuid4()}"), await client.delete(f"{PATH}/{uuid4()}")):
        assert (response.status_code, response.json()["code"]) == (404, "TRIAL_NOT_FOUND")
