"""Real queries, ingests and compactions, as a receiver of OpenLineage sees them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from tests.integration.asking import JsonObject, ask, cancel, post, rows, started
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make_star
from tests.integration.log_tables import LOG_SCHEMA, VERSION_2, named
from tests.integration.maintenance_calls import compact
from tests.integration.running import ENDLESS, RunningGateway
from tests.openlineage.checked import check
from tests.openlineage.receiver import Receiver, receiver
from tests.polling import until

pytestmark = pytest.mark.integration

SECRET = "hunter2"
WITHIN_S = 60
STAR = """
SELECT calendar.day_name, sum(amount) AS amount
FROM sales JOIN calendar ON sales.day_key = calendar.day_key
WHERE month = :month GROUP BY calendar.day_name
"""


@pytest.fixture(scope="module")
def there() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture(scope="module")
def running(there: Receiver, folder: Path) -> Iterator[RunningGateway]:
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        # Every table here is small.
        "SLUICE_DYNAMIC_FILTERING_MIN_TABLE_BYTES": "0",
        "SLUICE_LINEAGE_URL": there.url,
        "SLUICE_LINEAGE_API_KEY": SECRET,
        "SLUICE_LINEAGE_NAMESPACE": "shop-reports",
        "SLUICE_LINEAGE_TIMEOUT_S": "1",
        "SLUICE_INGEST_SOURCE_PREFIXES": (folder / "sources").as_uri(),
    }
    gateway = RunningGateway.start(folder / "lineage", settings)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            make_star(lake)
        yield gateway
    finally:
        there.may_answer.set()
        gateway.kill()


@pytest.fixture(scope="module")
def catalog(running: RunningGateway) -> Iterator[SqlCatalog]:
    with closing(embedded_catalog(running.data_dir)) as lake:
        lake.create_namespace_if_not_exists("logs")
        yield lake


@pytest.fixture
def logs(catalog: SqlCatalog) -> Table:
    return catalog.create_table(f"logs.t_{uuid4().hex}", LOG_SCHEMA, properties=VERSION_2)


def run_of(there: Receiver, run_id: str) -> tuple[JsonObject, JsonObject]:
    """Returns the two events of a run, after checking them against the specification."""
    found = until(lambda: two(event for event in there.events if event["run"]["runId"] == run_id), WITHIN_S)
    for event in found:
        check(event)
    assert found[0]["eventType"] == "START"
    assert found[0]["job"] == found[1]["job"]
    return found[0], found[1]


def two(events: Iterator[JsonObject]) -> list[JsonObject]:
    found = list(events)
    return found if len(found) == 2 else []


def commits_of(there: Receiver, ingest_id: str) -> list[JsonObject]:
    """Returns the final events of the commit rounds that include the ingest."""
    ended = [event for event in there.events if event["eventType"] == "COMPLETE"]
    took = "sluice_committedIngests"
    return [
        event for event in ended if ingest_id in event["run"]["facets"].get(took, {}).get("ingestIds", ())
    ]


def by_name(datasets: list[JsonObject]) -> dict[str, JsonObject]:
    return {dataset["name"]: dataset for dataset in datasets}


def sent(
    client: httpx.Client, table: Table, *, write_schema: list[str] | None = None, **more: Any
) -> JsonObject:
    """Sends an ingest of two records, and returns the answer."""
    records = [{"id": 1, "kind": "a", "amount": 7}, {"id": 2, "kind": "b", "amount": 8}]
    wanted = write_schema or ["id", "kind", "amount"]
    body = {
        "table": named(table),
        "writeSchema": wanted,
        "records": [{name: record[name] for name in wanted} for record in records],
    }
    answer = client.post("/ingest", json=body | more)
    assert answer.status_code == 200, answer.text
    found: JsonObject = answer.json()
    return found


def test_a_query_is_reported_with_its_tables_and_what_its_columns_come_from(
    running: RunningGateway, there: Receiver
) -> None:
    for _ in range(3):
        # Small tables are read from memory after two requests.
        answer = ask(running.client, STAR, parameters={"month": 2}, tags={"job": "by-day"})
    begun, ended = run_of(there, answer["queryId"])
    assert ended["eventType"] == "COMPLETE"
    assert begun["inputs"] == []
    assert ended["job"]["namespace"] == "shop-reports"
    assert ended["job"]["name"].startswith("query.by-day.")

    tables = by_name(ended["inputs"])
    assert tables.keys() == {"lake.shop.sales", "lake.shop.calendar"}
    sales = tables["lake.shop.sales"]
    assert [field["name"] for field in sales["facets"]["schema"]["fields"]] == [
        "sale_id",
        "day_key",
        "amount",
    ]
    pruned = sales["inputFacets"]["sluice_prunedScans"]["dataFiles"]
    assert 0 < pruned["selected"] < pruned["total"]
    assert sales["namespace"] == (running.data_dir / "warehouse").as_uri()

    [result] = ended["outputs"]
    assert [field["name"] for field in result["facets"]["schema"]["fields"]] == ["day_name", "amount"]
    facet = result["facets"]["columnLineage"]
    made_of = {
        name: {
            (input_field["name"], input_field["field"], input_field["transformations"][0]["subtype"])
            for input_field in field["inputFields"]
        }
        for name, field in facet["fields"].items()
    }
    assert made_of == {
        "day_name": {("lake.shop.calendar", "day_name", "IDENTITY")},
        "amount": {("lake.shop.sales", "amount", "AGGREGATION")},
    }
    decides = {(column["name"], column["field"]) for column in facet["dataset"]}
    assert {("lake.shop.sales", "day_key"), ("lake.shop.calendar", "day_name")} <= decides


def test_one_job_runs_with_other_values_and_no_value_is_reported(
    running: RunningGateway, there: Receiver
) -> None:
    jobs = set()
    for value in (SECRET, "other"):
        text = f"SELECT count(*) AS n FROM calendar WHERE day_name = '{value}'"
        jobs.add(run_of(there, ask(running.client, text)["queryId"])[1]["job"]["name"])
    assert len(jobs) == 1
    assert SECRET not in str(there.events)
    assert there.requests[-1][1]["Authorization"] == f"Bearer {SECRET}"


def test_failed_and_canceled_queries_are_reported_as_such(running: RunningGateway, there: Receiver) -> None:
    text = f"SELECT CAST('{SECRET}' AS INT) + max(day_key) AS n FROM calendar"
    failed = post(running.client, text).json()["queryId"]
    event = run_of(there, failed)[1]
    assert event["eventType"] == "FAIL"
    assert event["run"]["facets"]["errorMessage"]["message"] == "QUERY_FAILED"
    assert SECRET not in str(event)
    canceled = started(running.client, ENDLESS)
    cancel(running.client, canceled)
    assert run_of(there, canceled)[1]["eventType"] == "ABORT"


def test_an_ingest_and_its_commit_are_reported(running: RunningGateway, there: Receiver, logs: Table) -> None:
    answer = sent(running.client, logs)
    _, ingest = run_of(there, answer["ingestId"])
    assert ingest["eventType"] == "COMPLETE"
    assert ingest["job"]["name"] == f"ingest.{named(logs)}"
    [table] = ingest["outputs"]
    [schema] = table["outputFacets"]["sluice_writeSchemas"]["writeSchemas"]
    assert schema["columns"] == ["id", "kind", "amount"]
    assert schema["isWholeTable"] is False

    [commit] = until(lambda: commits_of(there, answer["ingestId"]), WITHIN_S)
    check(commit)
    logs.refresh()
    snapshot = logs.current_snapshot()
    assert snapshot is not None
    [table] = commit["outputs"]
    assert table["name"] == named(logs)
    assert table["facets"]["version"]["datasetVersion"] == str(snapshot.snapshot_id)
    assert [field["name"] for field in table["facets"]["schema"]["fields"]] == [
        "id",
        "kind",
        "note",
        "amount",
    ]
    statistics = table["outputFacets"]["outputStatistics"]
    [file] = [file.file for file in logs.scan().plan_files()]
    assert (statistics["rowCount"], statistics["fileCount"]) == (2, 1)
    assert statistics["size"] == file.file_size_in_bytes
    folder = {
        identifier["type"]: identifier["name"] for identifier in table["facets"]["symlinks"]["identifiers"]
    }
    assert logs.location().endswith(folder["LOCATION"])


def test_an_ingest_of_a_file_is_reported_with_the_file(
    running: RunningGateway, there: Receiver, logs: Table, folder: Path
) -> None:
    path = folder / "sources" / "lineage.ndjson"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"id": 1, "kind": "a"}\n')
    source = {"uri": path.as_uri(), "format": "ndjson"}
    answer = running.client.post("/ingest", json={"table": named(logs), "source": source})
    assert answer.status_code == 200, answer.text
    _, ended = run_of(there, answer.json()["ingestId"])
    assert [(dataset["namespace"], dataset["name"]) for dataset in ended["inputs"]] == [("file", str(path))]


def test_a_compaction_is_reported(running: RunningGateway, there: Receiver, logs: Table) -> None:
    for _ in range(2):
        sent(running.client, logs)
    compact(running.client, logs)
    name = f"compact.{named(logs)}"
    found = until(lambda: two(event for event in there.events if event["job"]["name"] == name), WITHIN_S)
    for event in found:
        check(event)
    assert [event["eventType"] for event in found] == ["START", "COMPLETE"]


def test_a_receiver_that_is_silent_holds_up_nobody_and_the_stop_neither(
    running: RunningGateway, there: Receiver, logs: Table
) -> None:
    """This is the last test, as it ends the gateway."""
    there.may_answer.clear()
    began = time.monotonic()
    assert rows(running.client, "SELECT 1 AS one") == [[1]]
    sent(running.client, logs)
    for _ in range(20):
        rows(running.client, "SELECT 1 AS one")
    # An unresponsive receiver takes a second for each event, for which no request may wait.
    asked_within_s = time.monotonic() - began
    text = until(lambda: undelivered(running.client.get("/metrics").text), WITHIN_S)
    assert asked_within_s < 20, text
    assert running.stop(30) == 0
    assert any(line.get("event") == "lineage_dropped" for line in running.log_lines())


def undelivered(metrics: str) -> str:
    found = [
        line for line in metrics.splitlines() if line.startswith('sluice_lineage_events_total{outcome="UNDEL')
    ]
    return next((line for line in found if float(line.split()[-1]) > 0), "")
