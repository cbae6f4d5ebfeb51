"""A gateway that caches files of tables answers as one that does not, for SQL and REST catalogs."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import JsonObject, ask, explain, rows
from tests.integration.lakehouse import BY_DAY, CALENDAR, SALES, make
from tests.integration.rest_catalog.jars import rest_catalog_class_path
from tests.integration.rest_catalog.server import rest_catalog_server
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway
from tests.integration.servers import postgres
from tests.polling import until

pytestmark = pytest.mark.integration

CATALOGS = ("lake", "rest")
DAYS = tuple(range(2_451_545, 2_451_557))
QUERIES = (
    "SELECT month, count(*), sum(amount) FROM {0}.shop.sales f JOIN {0}.shop.calendar c"
    " ON f.day_key = c.day_key WHERE month IN (2, 3) GROUP BY month ORDER BY month",
    "SELECT sale_id, amount FROM {0}.shop.sales WHERE sale_id = 400 ORDER BY sale_id",
    "SELECT count(*), min(day_name), max(day_name) FROM {0}.shop.calendar",
    "SELECT count(*), count(DISTINCT day_key), sum(sale_id) FROM {0}.shop.sales",
    "SELECT count(*) FROM {0}.shop.sales.files",
)
EVENTS = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "note", "type": "string", "required": False},
    ],
    "identifier-field-ids": [1],
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two gateways with the same catalogs; one of them caches files."""

    caching: RunningGateway
    plain: RunningGateway
    catalogs: dict[str, Catalog]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="sluice-files-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        server = stack.enter_context(postgres(folder / "lake", "lake"))
        class_path = rest_catalog_class_path(folder / "rest-jars")
        rest = stack.enter_context(rest_catalog_server(class_path, folder / "rest"))
        blocks = {
            "lake": {"type": "sql", "uri": server.url("lake"), "warehouse": f"file://{folder}/warehouse"},
            "rest": {"type": "rest", "uri": rest.uri},
        }
        catalogs: dict[str, Catalog] = {
            "lake": stack.enter_context(closing(SqlCatalog("lake", **blocks["lake"]))),
            "rest": RestCatalog("rest", **blocks["rest"]),
        }
        for catalog in catalogs.values():
            make_star(catalog)
        settings = PRUNES_THOUGH_BUSY | {
            "SLUICE_CATALOGS": json.dumps(blocks),
            "SLUICE_SPARK_MASTER": "local[2]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            "SLUICE_MAINTENANCE_MIN_SNAPSHOT_AGE_H": "0",
            # Otherwise the rows would come from memory, and no file would be read.
            "SLUICE_LOCAL_RELATION_MAX_ROWS": "0",
            "SLUICE_ENGINE_PROBE_INTERVAL_S": "1",
            "SLUICE_DYNAMIC_FILTERING_MIN_TABLE_BYTES": "0",
            "SLUICE_FILE_CACHE_MAX_BYTES": "0",
        }
        # Whole files are cached up to this size, and the footers of larger ones.
        cached = {
            "SLUICE_FILE_CACHE_MAX_BYTES": str(64 << 20),
            "SLUICE_FILE_CACHE_MAX_DATA_FILE_BYTES": str(8 << 10),
        }
        caching = RunningGateway.start(folder / "caching", settings | cached)
        stack.callback(caching.stop)
        plain = RunningGateway.start(folder / "plain", settings)
        stack.callback(plain.stop)
        yield Pair(caching, plain, catalogs)


def make_star(catalog: Catalog) -> None:
    """Creates files that are cached whole (calendar, small days), and one of which only the footer is."""
    catalog.create_namespace("shop")
    counts = {day: 20_000 if number == 4 else 100 for number, day in enumerate(DAYS)}
    sales = [
        {"sale_id": number * 100 + index, "day_key": day, "amount": Decimal(index) / 4}
        for number, (day, count) in enumerate(counts.items())
        for index in range(count)
    ]
    make(catalog, "shop.sales", SALES, BY_DAY).append(pa.Table.from_pylist(sales, schema=SALES.as_arrow()))
    calendar = [
        {"day_key": day, "month": number // 3 + 1, "day_name": f"day {number}"}
        for number, day in enumerate(DAYS)
    ]
    made = make(catalog, "shop.calendar", CALENDAR)
    made.append(pa.Table.from_pylist(calendar, schema=CALENDAR.as_arrow()))


def answer_of(gateway: httpx.Client, sql: str) -> tuple[list[JsonObject], list[JsonObject]]:
    """Returns the rows of a query, and what each of its scans read."""
    answer = ask(gateway, sql)
    scans = explain(gateway, answer["queryId"])["scans"]
    return answer["result"]["rows"], [
        {name: value for name, value in scan.items() if name != "planningMs"} for scan in scans
    ]


def files_use(gateway: httpx.Client) -> dict[str, float]:
    """Returns the numbers of the cache in the metrics."""
    text = gateway.get("/metrics").text
    return {
        line.split("{")[0] + ("_hits" if 'outcome="HIT"' in line else ""): float(line.rsplit(" ", 1)[1])
        for line in text.splitlines()
        if 'cache="table_files"' in line and 'outcome="MISS"' not in line
    }


def send(gateway: httpx.Client, table: str, *records: JsonObject, **body: object) -> None:
    response = gateway.post("/ingest", json={"table": table, "records": records} | body)
    assert response.status_code == 200, response.text
    assert response.json()["state"] == "COMMITTED", response.text


def maintain(gateway: httpx.Client, table: str) -> dict[str, JsonObject]:
    """Runs every maintenance operation, and returns the counts of each."""
    body = {
        "operations": ["compact", "expire", "removeOrphans"],
        "snapshotsOlderThanHours": 0,
        "orphansOlderThanHours": 24,
    }
    response = gateway.post(f"/tables/{table}/maintenance", json=body)
    assert response.status_code == 202, response.text
    link = response.json()["links"]["self"]
    until(lambda: gateway.get(link).status_code == 200, 120)
    done = gateway.get(link).json()
    assert done["state"] == "SUCCEEDED", done
    return {result["operation"]: result["counts"] for result in done["results"]}


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_rows_and_explanations_are_those_without_the_cache(pair: Pair, catalog: str, number: int) -> None:
    sql = QUERIES[number].format(catalog)
    expected = answer_of(pair.plain.client, sql)
    assert expected[0]
    cold = answer_of(pair.caching.client, sql)
    warm = answer_of(pair.caching.client, sql)
    assert cold == expected
    assert warm == expected


@pytest.mark.parametrize("catalog", CATALOGS)
def test_what_is_cached_is_not_read_again(pair: Pair, catalog: str) -> None:
    table = make(pair.catalogs[catalog], f"shop.t_{uuid4().hex[:8]}", CALENDAR)
    day = {"day_key": 1, "month": 1, "day_name": "a"}
    table.append(pa.Table.from_pylist([day], schema=CALENDAR.as_arrow()))
    sql = f"SELECT day_key, day_name FROM {catalog}.{'.'.join(table.name())}"
    assert rows(pair.caching.client, sql) == [[1, "a"]]
    [task] = list(table.refresh().scan().plan_files())
    Path(unquote(urlsplit(task.file.file_path).path)).unlink()
    assert rows(pair.caching.client, sql) == [[1, "a"]]
    failed = pair.plain.client.post("/query", json={"sql": sql, "waitTimeout": "50s"})
    assert failed.json()["code"] == "QUERY_FAILED", failed.text


@pytest.mark.parametrize("catalog", CATALOGS)
def test_a_table_is_written_evolved_and_maintained_through_it(pair: Pair, catalog: str) -> None:
    caching, plain = pair.caching.client, pair.plain.client
    name = f"{catalog}.shop.events_{uuid4().hex[:8]}"
    everything = f"SELECT id, note FROM {name} ORDER BY id"
    send(caching, name, *[{"id": key, "note": "a"} for key in range(50)], schema=EVENTS, create={})
    assert rows(caching, everything) == rows(plain, everything) == [[key, "a"] for key in range(50)]
    # Commits of either gateway are in the next answer of both.
    for turn, gateway in enumerate((plain, caching, plain)):
        send(gateway, name, *[{"id": key, "note": str(turn)} for key in range(turn, 50, 3)], mode="upsert")
        expected = rows(plain, everything)
        assert rows(caching, everything) == expected
        assert {note for _, note in expected if note != "a"} == {str(seen) for seen in range(turn + 1)}
    before = rows(plain, everything)
    counts = maintain(caching, name)
    assert counts["compact"]["removedDeleteFiles"] > 0
    assert counts["expire"]["expiredSnapshots"] >= 1
    assert counts["removeOrphans"] == {"removedFiles": 0}
    for sql in (everything, f"SELECT count(*) FROM {name}.files", f"SELECT count(*) FROM {name}.snapshots"):
        assert answer_of(caching, sql) == answer_of(plain, sql)
    assert rows(caching, everything) == before
    # And once more by the other one, whose deletions the cache does not see.
    send(caching, name, {"id": 0, "note": "last"}, mode="upsert")
    assert rows(caching, everything) == [[0, "last"], *before[1:]]
    maintain(plain, name)
    assert rows(caching, everything) == [[0, "last"], *before[1:]]


def test_metrics_show_the_cache(pair: Pair) -> None:
    def is_used() -> bool:
        rows(pair.caching.client, QUERIES[0].format("lake"))
        found = files_use(pair.caching.client)
        return found["sluice_cache_entries"] > 0 and found["sluice_cache_requests_total_hits"] > 0

    until(is_used, 60)
    found = files_use(pair.caching.client)
    assert 0 < found["sluice_cache_bytes"] <= found["sluice_cache_max_bytes"] == 64 << 20
    assert found["sluice_cache_evictions_total"] == 0
    assert set(files_use(pair.plain.client).values()) == {0.0}
