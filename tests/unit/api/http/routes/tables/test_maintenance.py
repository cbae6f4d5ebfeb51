from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from service.model.operations.maintenance import MaintenanceBounds, MaintenanceOperation
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio

PATH = "/tables/lake.tpcds.store_returns/maintenance"
COMPACT = {"operations": ["compact"]}


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    found: dict[str, Any] = response.json()
    assert (response.status_code, found["code"]) == (status, code), response.text
    return found


async def test_it_is_taken_in_and_can_be_looked_at(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    response = await client.post(PATH, json={"operations": ["compact", "removeOrphans", "compact"]})
    assert response.status_code == 202, response.text
    answer = response.json()
    assert (answer["state"], answer["table"], answer["branch"]) == (
        "WAITING",
        "lake.tpcds.store_returns",
        "main",
    )
    assert (answer["operations"], answer["results"]) == (["compact", "removeOrphans"], [])
    assert answer["endedAt"] is None
    link = answer["links"]["self"]
    assert (await client.get(link)).json() == answer
    gateway.maintenances.run_open()
    done = await client.get(link)
    assert (done.status_code, done.json()["state"]) == (200, "SUCCEEDED")
    assert [(result["operation"], result["counts"]) for result in done.json()["results"]] == [
        ("compact", {"files": 1}),
        ("removeOrphans", {"files": 1}),
    ]


async def test_bounds_are_the_operators_unless_the_caller_names_them(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    body = {
        "operations": ["expire"],
        "snapshotsOlderThanHours": 2,
        "retainLast": 7,
        "orphansOlderThanHours": 24,
    }
    assert (await client.post(PATH, json=body)).status_code == 202
    [record] = gateway.maintenances.log.open()
    bounds = record.request.bounds
    assert (bounds.snapshot_age.total_seconds(), bounds.snapshots_kept) == (7200, 7)
    assert bounds.orphan_age.days == 1
    gateway.maintenances.run_open()
    assert (await client.post(PATH, json=COMPACT)).status_code == 202
    [record] = gateway.maintenances.log.open()
    assert record.request.bounds == gateway.maintenances.plan.bounds
    assert record.request.operations == (MaintenanceOperation.COMPACT,)


async def test_a_table_has_one_at_a_time(client: httpx.AsyncClient) -> None:
    first = (await client.post(PATH, json=COMPACT)).json()
    found = problem(await client.post(PATH, json=COMPACT), 409, "MAINTENANCE_RUNNING")
    assert first["maintenanceId"] in found["detail"]


async def test_all_of_a_table_are_listed_with_the_schedule(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    assert (await client.get(PATH)).json() == {
        "schedule": {
            "isOn": True,
            "intervalS": 3600,
            "appendedFiles": 0,
            "idleS": 0,
            "operations": ["compact"],
        },
        "floors": {"snapshotsOlderThanHours": 0, "retainLast": 1, "orphansOlderThanHours": 0},
        "mayRequest": True,
        "maintenances": [],
    }
    await client.post(PATH, json=COMPACT)
    gateway.maintenances.run_open()
    [listed] = (await client.get(PATH)).json()["maintenances"]
    assert (listed["state"], listed["requestedBy"]) == ("SUCCEEDED", "anonymous")


async def test_where_the_operator_lets_nobody_write_nobody_may_request_it(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.maintenances.plan = replace(gateway.maintenances.plan, writable_names=("lake.other.*",))
    assert (await client.get(PATH)).json()["mayRequest"] is False
    problem(await client.post(PATH, json=COMPACT), 403, "WRITE_NOT_ALLOWED")


async def test_what_is_not_there_is_a_404(client: httpx.AsyncClient) -> None:
    problem(await client.get(f"{PATH}/{uuid4()}"), 404, "MAINTENANCE_NOT_FOUND")
    problem(await client.post("/tables/lake.tpcds.nope/maintenance", json=COMPACT), 404, "TABLE_NOT_FOUND")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"operations": []},
        {"operations": ["vacuum"]},
        COMPACT | {"retainLast": 0},
        COMPACT | {"orphansOlderThanHours": 23},
        COMPACT | {"snapshotsOlderThanHours": -1},
        COMPACT | {"branch": ""},
        COMPACT | {"where": "1 = 1"},
    ],
)
async def test_what_makes_no_sense_is_refused(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    problem(await client.post(PATH, json=body), 422, "INVALID_REQUEST")


FLOORS = MaintenanceBounds(snapshot_age=timedelta(hours=48), snapshots_kept=5, orphan_age=timedelta(hours=72))
AT_FLOORS = {"snapshotsOlderThanHours": 48, "retainLast": 5, "orphansOlderThanHours": 72}


@pytest.fixture
def floored(gateway: FakeGateway) -> FakeGateway:
    plan = gateway.maintenances.plan
    gateway.maintenances.plan = replace(plan, bounds=plan.bounds.at_least(FLOORS), floors=FLOORS)
    return gateway


@pytest.mark.parametrize(
    ("operations", "below", "says"),
    [
        (["expire"], {"snapshotsOlderThanHours": 47}, "48 hours"),
        (["expire"], {"snapshotsOlderThanHours": 0}, "48 hours"),
        (["expire"], {"retainLast": 4}, "newest 5 snapshots"),
        (["compact", "removeOrphans"], {"orphansOlderThanHours": 71}, "72 hours"),
    ],
)
async def test_nobody_may_remove_what_the_operator_keeps(
    client: httpx.AsyncClient,
    floored: FakeGateway,
    operations: list[str],
    below: dict[str, int],
    says: str,
) -> None:
    body = {"operations": operations} | AT_FLOORS | below
    found = problem(await client.post(PATH, json=body), 422, "MAINTENANCE_BELOW_FLOOR")
    assert [error["pointer"] for error in found["errors"]] == [f"/{name}" for name in below]
    assert says in found["detail"]
    assert floored.maintenances.log.records == {}
    # At the floor, and with the operator's own bounds, it is accepted.
    assert (await client.post(PATH, json={"operations": operations} | AT_FLOORS)).status_code == 202
    floored.maintenances.run_open()
    assert (await client.post(PATH, json={"operations": operations})).status_code == 202


async def test_each_bound_below_its_floor_is_named(client: httpx.AsyncClient, floored: FakeGateway) -> None:
    low = {"snapshotsOlderThanHours": 1, "retainLast": 1, "orphansOlderThanHours": 24}
    body = {"operations": ["expire", "removeOrphans"]} | low
    found = problem(await client.post(PATH, json=body), 422, "MAINTENANCE_BELOW_FLOOR")
    assert [error["pointer"] for error in found["errors"]] == [f"/{name}" for name in low]
    # Bounds of operations that do not run remove nothing.
    assert (await client.post(PATH, json=COMPACT | low)).status_code == 202
    assert (await client.get(PATH)).json()["floors"] == AT_FLOORS
    assert len(floored.maintenances.log.records) == 1
