"""How far a running query is: in its status, its events and its explanation, with a real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from tests.integration.asking import JsonObject, cancel, computing, explain, start, status
from tests.integration.running import ENDLESS
from tests.polling import until

pytestmark = pytest.mark.integration

FILES, ROWS_PER_FILE = 5, 20_000
# Short tasks, one after the other: each takes a fraction of a second on one core.
MANY_TASKS = "SELECT max(pmod(hash(id), 2)) AS n FROM range(0, 1200000000, 1, 40)"


@pytest.fixture
def counted(lake: SqlCatalog, new_name: str) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("shop")
    columns = pa.table({"n": pa.array(range(ROWS_PER_FILE), pa.int64())})
    table = lake.create_table(new_name, columns.schema)
    for _ in range(FILES):
        table.append(columns)
    yield table
    lake.drop_table(new_name)


def progress_of(client: httpx.Client, query_id: str) -> JsonObject | None:
    found: JsonObject | None = status(client, query_id)["status"]["progress"]
    return found


def test_a_scan_is_counted_by_rows_files_and_bytes(gateway: httpx.Client, counted: Table) -> None:
    name = ".".join(("lake", *counted.name()))
    # The scan ends soon, and what follows does not.
    sql = (
        "SELECT sum(hash(r.id, t.s)) AS s FROM range(0, 1000000000000, 1, 1) r"
        f" CROSS JOIN (SELECT sum(n) AS s FROM {name}) t"
    )
    query_id = start(gateway, sql, dynamicFiltering={"enabled": False})
    seen: list[int] = []

    def is_scanned() -> JsonObject | None:
        found = progress_of(gateway, query_id)
        if found is None:
            return None
        seen.append(found["percent"])
        scans = found["scans"]
        is_read = [scan["rows"] for scan in scans] == [FILES * ROWS_PER_FILE]
        return found if is_read and found["tasks"]["running"] else None

    found = until(is_scanned, within_s=120)
    assert found is not None
    [scan] = found["scans"]
    sizes = [task.file.file_size_in_bytes for task in counted.scan().plan_files()]
    assert scan == {
        "table": name,
        "rows": FILES * ROWS_PER_FILE,
        "dataFiles": {"read": FILES, "selected": FILES},
        "bytes": {"read": sum(sizes), "selected": sum(sizes)},
    }
    assert (found["phase"], found["rows"], found["bytes"]) == ("RUNNING", FILES * ROWS_PER_FILE, sum(sizes))
    assert found["stages"]["completed"] >= 1
    assert found["stages"]["total"] > found["stages"]["completed"]
    assert seen == sorted(seen)
    assert seen[-1] < 100
    explained = explain(gateway, query_id)["progress"]
    assert explained["scans"] == [scan]
    page = gateway.get(f"/explain/{query_id}", headers={"Accept": "text/html"}).text
    assert "Progress</h2>" in page
    assert f"{FILES} of {FILES}</span>" in page
    assert cancel(gateway, query_id)["status"]["progress"] is None
    assert explain(gateway, query_id)["progress"] is None


def test_tasks_that_end_are_counted_until_the_query_ends(gateway: httpx.Client) -> None:
    query_id = start(gateway, MANY_TASKS)
    completed: list[int] = []
    percents: list[int] = []
    answer = status(gateway, query_id)
    while answer["status"]["state"] in ("QUEUED", "RUNNING"):
        progress = answer["status"]["progress"]
        if progress is not None and progress["tasks"]["total"]:
            completed.append(progress["tasks"]["completed"])
            percents.append(progress["percent"])
        answer = status(gateway, query_id, wait="100ms")
    assert (answer["status"]["state"], answer["result"]["rows"]) == ("SUCCEEDED", [[1]])
    assert answer["status"]["progress"] is None
    assert completed == sorted(completed)
    assert len(set(completed)) >= 3
    assert percents == sorted(percents)
    assert set(percents) <= set(range(100))


def events_of(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the name and the data of each event."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line and "event" in fields:
            yield fields["event"], json.loads(fields["data"])
            fields = {}
        elif not line.startswith(":") and ": " in line:
            name, _, value = line.partition(": ")
            fields[name] = value


def test_a_query_is_followed_by_its_events(gateway: httpx.Client) -> None:
    query_id = start(gateway, MANY_TASKS)
    with gateway.stream("GET", f"/query/{query_id}/events") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        events = list(events_of(answer.iter_lines()))
    names = [name for name, _ in events]
    assert names[0] == "state"
    assert names[-1] == "done"
    assert names.count("done") == 1
    reported = [data for name, data in events if name == "progress"]
    assert any(0 < data["tasks"]["completed"] < data["tasks"]["total"] for data in reported)
    done = events[-1][1]
    assert (done["status"]["state"], done["result"], done["manifest"]["totalRowCount"]) == (
        "SUCCEEDED",
        None,
        1,
    )
    again = gateway.get(f"/query/{query_id}/events", headers={"Last-Event-ID": "end"})
    assert again.status_code == 204


def test_the_events_of_a_canceled_query_end_with_that(gateway: httpx.Client) -> None:
    query_id = computing(gateway, ENDLESS)
    with gateway.stream("GET", f"/query/{query_id}/events") as answer:
        events = events_of(answer.iter_lines())
        assert next(events)[1]["state"] == "RUNNING"
        cancel(gateway, query_id)
        *_, (name, data) = events
    assert (name, data["status"]["state"]) == ("done", "CANCELED")
