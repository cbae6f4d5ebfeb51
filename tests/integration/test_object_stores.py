"""Whole lakehouses in an object store, in a SQL and a REST catalog, and its objects as sources, over HTTP."""

from __future__ import annotations

import gzip
import json
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from tests.integration.asking import JsonObject, ask, explain, post, rows
from tests.integration.lakehouse import BY_DAY, CALENDAR, SALES, make
from tests.integration.object_store.server import REGION, ObjectStore, object_store
from tests.integration.rest_catalog.jars import FOR_S3, rest_catalog_class_path
from tests.integration.rest_catalog.server import RestCatalogServer, rest_catalog_server
from tests.integration.running import RunningGateway
from tests.integration.servers import postgres
from tests.polling import until

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", StringType(), required=True),
    NestedField(3, "note", StringType()),
    identifier_field_ids=[1, 2],
)
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
# One of the two libraries could take these for another place or another name.
ODD_KINDS = ("a b", "a+b", "a/b", "a%2Fb", "a=b&c", "é😀", "", "..", "#?")
LAKE, INBOX = "lake", "inbox"
DAYS = tuple(range(2_451_545, 2_451_551))


@dataclass(frozen=True, slots=True)
class Stored:
    """The gateway, and the servers that it uses."""

    running: RunningGateway
    store: ObjectStore
    lake: SqlCatalog


@pytest.fixture(scope="module")
def stored() -> Iterator[Stored]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="sluice-stores-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        store = stack.enter_context(object_store(folder / "store.log"))
        for bucket in (LAKE, INBOX):
            store.make_bucket(bucket)
        server = stack.enter_context(postgres(folder / "lake", "lake"))
        rest = stack.enter_context(rest_catalog(folder, store))
        block = {"type": "sql", "uri": server.url("lake"), "warehouse": f"s3://{LAKE}/warehouse"}
        lake = SqlCatalog("lake", **block, **store.properties, **{"s3.region": REGION})
        stack.enter_context(closing(lake))
        make_star(lake)
        settings = {
            "SLUICE_CATALOGS": json.dumps(
                {
                    "lake": block | store.properties,
                    "rest": {"type": "rest", "uri": rest.uri} | store.properties,
                }
            ),
            "SLUICE_DEFAULT_SCHEMA": "shop",
            "SLUICE_SPARK_MASTER": "local[2]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            "SLUICE_MAINTENANCE_MIN_SNAPSHOT_AGE_H": "0",
            "SLUICE_LOCAL_RELATION_MAX_ROWS": "0",
            "SLUICE_INGEST_SOURCE_PREFIXES": f"s3://{INBOX}/in",
            "SLUICE_INGEST_SOURCE_PROPERTIES": json.dumps(store.properties),
            "SLUICE_INGEST_EXECUTED_BODY_BYTES": str(256 * 1024),
            "SLUICE_INGEST_SPLIT_BYTES": str(1024 * 1024),
        }
        running = RunningGateway.start(folder / "gateway", settings)
        stack.callback(running.stop)
        yield Stored(running, store, lake)


def rest_catalog(folder: Path, store: ObjectStore) -> AbstractContextManager[RestCatalogServer]:
    """Runs a REST catalog whose tables are in the store as well."""
    class_path = rest_catalog_class_path(folder / "rest-jars", FOR_S3)
    properties = {
        "warehouse": f"s3://{LAKE}/rest",
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.path-style-access": "true",
        "client.region": REGION,
    }
    return rest_catalog_server(class_path, folder / "rest", properties | store.properties)


@pytest.fixture
def gateway(stored: Stored) -> httpx.Client:
    return stored.running.client


@pytest.fixture
def store(stored: Stored) -> ObjectStore:
    return stored.store


@pytest.fixture
def table(stored: Stored) -> Table:
    """A table partitioned by `kind`."""
    stored.lake.create_namespace_if_not_exists("logs")
    name = f"logs.t_{uuid4().hex[:8]}"
    return stored.lake.create_table(name, SCHEMA, partition_spec=BY_KIND, properties={"format-version": "2"})


@pytest.fixture
def inbox() -> str:
    """A new folder for one test, below the one that may be read."""
    return f"in/{secrets.token_hex(4)}"


def make_star(lake: SqlCatalog) -> None:
    """Creates one sale for each of some days, and a calendar in which every day has a month of its own."""
    lake.create_namespace("shop")
    sales = [{"sale_id": day, "day_key": day, "amount": None} for day in DAYS]
    make(lake, "shop.sales", SALES, BY_DAY).append(pa.Table.from_pylist(sales, schema=SALES.as_arrow()))
    calendar = [{"day_key": day, "month": month, "day_name": ""} for month, day in enumerate(DAYS, start=1)]
    rows = pa.Table.from_pylist(calendar, schema=CALENDAR.as_arrow())
    make(lake, "shop.calendar", CALENDAR).append(rows)


def named(table: Table) -> str:
    return ".".join(("lake", *table.name()))


def keys_of(store: ObjectStore, table: Table, ending: str = "") -> list[str]:
    prefix = urlsplit(table.location()).path.lstrip("/") + "/"
    return [key for key in store.keys(LAKE, prefix) if key.endswith(ending)]


def lines(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def send(gateway: httpx.Client, table: str, *records: dict[str, Any], **body: Any) -> JsonObject:
    response = gateway.post("/ingest", json={"table": table, "records": records} | body)
    assert response.status_code == 200, response.text
    answer: JsonObject = response.json()
    assert answer["state"] == "COMMITTED", answer
    return answer


def send_source(gateway: httpx.Client, table: Table, uri: str, **body: Any) -> httpx.Response:
    return gateway.post(
        "/ingest", json={"table": named(table), "source": {"uri": uri, "format": "ndjson"}} | body
    )


def problem(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


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


def test_a_pruned_query_reads_only_the_objects_that_it_says(gateway: httpx.Client, stored: Stored) -> None:
    files = keys_of(stored.store, stored.lake.load_table("shop.sales"), ".parquet")
    assert len(files) == len(DAYS)
    for file in files:
        if f"/day_key={DAYS[2]}/" not in file:
            stored.store.client.delete_object(Bucket=LAKE, Key=file)
    answer = ask(
        gateway,
        "SELECT month, count(*) AS n FROM sales f JOIN calendar c ON f.day_key = c.day_key "
        "WHERE month = 3 GROUP BY month",
        dynamicFiltering={"minTableBytes": 0},
    )
    assert answer["result"]["rows"] == [[3, 1]]
    scans = explain(gateway, answer["queryId"])["scans"]
    [scan] = [scan for scan in scans if scan["table"] == "lake.shop.sales"]
    assert scan["dataFiles"] == {"total": len(DAYS), "selected": 1}


def test_rows_of_every_partition_are_read_back_by_both_libraries(gateway: httpx.Client, table: Table) -> None:
    records = [{"id": number, "kind": kind, "note": kind} for number, kind in enumerate(ODD_KINDS)]
    send(gateway, named(table), *records)
    expected = [list(record.values()) for record in records]
    assert rows(gateway, f"SELECT id, kind, note FROM {named(table)} ORDER BY id") == expected
    for kind in ODD_KINDS:
        found = rows(
            gateway, f"SELECT note FROM {named(table)} WHERE kind = :kind", parameters={"kind": kind}
        )
        assert found == [[kind]]
    read = table.refresh().scan().to_arrow().sort_by("id").to_pylist()
    assert [list(row.values()) for row in read] == expected


def test_a_large_body_is_written_into_the_store_by_executors(gateway: httpx.Client, table: Table) -> None:
    count = 60_000
    body = lines({"id": n, "kind": "ab"[n % 2], "note": "x" * 30} for n in range(count))
    answer = gateway.post(
        "/ingest",
        params={"table": named(table)},
        content=body,
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["commits"][0]["addedDataFiles"] > 2
    assert rows(gateway, f"SELECT count(*), count(DISTINCT id) FROM {named(table)}") == [[count, count]]


def test_objects_become_one_snapshot_whatever_they_are_called(
    gateway: httpx.Client, store: ObjectStore, table: Table, inbox: str
) -> None:
    names = ("a b.ndjson", "a+b%20c.ndjson.gz", "day=1/é😀.ndjson", "x#y?z.ndjson.gz", "[1].ndjson")
    for number, name in enumerate(names):
        part = lines({"id": number * 100 + index, "kind": "a"} for index in range(100))
        store.put(INBOX, f"{inbox}/{name}", gzip.compress(part) if name.endswith(".gz") else part)
    answer = send_source(gateway, table, f"s3://{INBOX}/{inbox}/**/*.ndjson*")
    assert answer.status_code == 200, answer.text
    assert rows(gateway, f"SELECT count(*), count(DISTINCT id) FROM {named(table)}") == [[500, 500]]
    assert len(table.refresh().snapshots()) == 1


def test_what_cannot_be_read_is_a_problem_with_a_code_of_its_own(
    gateway: httpx.Client, store: ObjectStore, table: Table, inbox: str
) -> None:
    store.put(INBOX, f"{inbox}/a.ndjson", lines([{"id": 1, "kind": "a"}]))
    uri = f"s3://{INBOX}/{inbox}"
    for missing in (f"{uri}/b.ndjson", f"{uri}/*.csv", f"{uri}/../a.ndjson"):
        assert problem(send_source(gateway, table, missing)) == (422, "SOURCE_INVALID")
    for outside in ("s3://other/in/a.ndjson", f"s3://{LAKE}/warehouse/*", f"s3://{INBOX}/*"):
        assert problem(send_source(gateway, table, outside)) == (403, "SOURCE_NOT_ALLOWED")
    refusals = []
    with store.denying(INBOX, "list"):
        refusals.append(send_source(gateway, table, f"{uri}/*.ndjson"))
    # Objects may be listed but not read, which executors find out.
    with store.denying(INBOX, "get"):
        refusals += [send_source(gateway, table, f"{uri}/{pattern}") for pattern in ("a.ndjson", "*.ndjson")]
    # The store fails while executors read.
    with store.denying(INBOX, "get", status=503):
        answer = send_source(gateway, table, f"{uri}/*.ndjson")
        assert problem(answer) == (503, "STORAGE_DOWN")
        assert "does not answer" in answer.json()["detail"]
    for refusal in refusals:
        assert problem(refusal) == (403, "SOURCE_DENIED")
        assert "own words" not in refusal.text
        assert store.endpoint not in refusal.text
    assert table.refresh().current_snapshot() is None
    assert keys_of(store, table, ".parquet") == []


def test_a_bad_record_anywhere_leaves_nothing_in_the_store(
    gateway: httpx.Client, store: ObjectStore, table: Table, inbox: str
) -> None:
    store.put(INBOX, f"{inbox}/good.ndjson", lines([{"id": 1, "kind": "a"}]))
    store.put(INBOX, f"{inbox}/bad.ndjson", lines([{"id": 1, "kind": "a"}, {"id": "x", "kind": "b"}]))
    answer = send_source(gateway, table, f"s3://{INBOX}/{inbox}/*.ndjson")
    assert problem(answer) == (422, "RECORDS_INVALID")
    assert "bad.ndjson" in answer.text
    records = [{"id": 1, "kind": "a"}, {"id": "x", "kind": "b"}]
    answer = gateway.post("/ingest", json={"table": named(table), "records": records})
    assert problem(answer) == (422, "RECORDS_INVALID")
    assert keys_of(store, table, ".parquet") == []


def test_a_store_that_takes_nothing_is_reported_and_nothing_is_accepted(
    gateway: httpx.Client, store: ObjectStore, table: Table
) -> None:
    body = {"table": named(table), "records": [{"id": 1, "kind": "a"}]}
    with store.denying(LAKE, "put"):
        assert problem(gateway.post("/ingest", json=body)) == (503, "STORAGE_DOWN")
    send(gateway, named(table), {"id": 1, "kind": "a"})
    assert rows(gateway, f"SELECT count(*) FROM {named(table)}") == [[1]]


def test_what_a_query_may_not_read_is_reported_without_secrets(
    gateway: httpx.Client, store: ObjectStore, table: Table
) -> None:
    send(gateway, named(table), {"id": 1, "kind": "a"})
    with store.denying(LAKE, "get", ".parquet"):
        response = post(gateway, f"SELECT max(note) FROM {named(table)}")
    assert problem(response) == (422, "QUERY_FAILED")
    assert store.secret not in response.text
    assert store.key not in response.text
    assert rows(gateway, f"SELECT max(id) FROM {named(table)}") == [[1]]


def test_maintenance_takes_deletes_and_orphans_away_and_nothing_else(
    gateway: httpx.Client, stored: Stored, table: Table
) -> None:
    store, name = stored.store, named(table)
    for turn in range(2):
        records = [{"id": number, "kind": kind, "note": str(turn)} for number, kind in enumerate(ODD_KINDS)]
        send(gateway, name, *records, mode="upsert")
    before = rows(gateway, f"SELECT id, kind, note FROM {name} ORDER BY id")
    assert [row[2] for row in before] == ["1"] * len(ODD_KINDS)
    # Its location has the same prefix as the table's, but is not inside it.
    sibling = stored.lake.create_table(f"{'.'.join(table.name())}_2", SCHEMA)
    send(gateway, named(sibling), {"id": 7, "kind": "sibling"})
    folder = urlsplit(table.location()).path.lstrip("/")
    old = [
        f"{folder}/data/old.parquet",
        f"{folder}/data/kind=a%2Fb/old.parquet",
        f"{folder}/metadata/old.avro",
    ]
    for key in old:
        store.put(LAKE, key, b"nobody's")
    store.put(LAKE, f"{folder}_2/data/nobodys.parquet", b"not this table's")
    # PyArrow leaves an empty object in place of a folder whose last file it deletes, for example a delete
    # file that a commit did not need.
    empty = [key for key in store.keys(LAKE) if key.startswith(f"{folder}/") and key.endswith("/")]
    store.age_everything()
    store.put(LAKE, f"{folder}/data/young.parquet", b"nobody's")

    counts = maintain(gateway, name)

    assert counts["compact"]["removedDeleteFiles"] > 0
    assert counts["expire"]["expiredSnapshots"] >= 2
    assert counts["removeOrphans"] == {"removedFiles": len(old) + len(empty)}
    keys = store.keys(LAKE)
    assert not {*old, *empty} & set(keys)
    assert {f"{folder}/data/young.parquet", f"{folder}_2/data/nobodys.parquet"} <= set(keys)
    assert rows(gateway, f"SELECT id, kind, note FROM {name} ORDER BY id") == before
    assert rows(gateway, f"SELECT kind FROM {named(sibling)}") == [["sibling"]]
    read = table.refresh().scan().to_arrow().sort_by("id").to_pylist()
    assert [list(row.values()) for row in read] == before


def test_a_table_of_a_rest_catalog_is_made_evolved_written_to_and_maintained(
    gateway: httpx.Client, store: ObjectStore
) -> None:
    namespace = f"logs_{uuid4().hex[:8]}"
    name = f"rest.{namespace}.events"
    columns = [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "note", "type": "string", "required": False},
    ]
    schema = {"type": "struct", "fields": columns, "identifier-field-ids": [1]}
    send(gateway, name, {"id": 1, "note": "a"}, {"id": 2, "note": "b"}, schema=schema, create={})
    wider = schema | {"fields": [*columns, {"id": 3, "name": "price", "type": "int", "required": False}]}
    send(gateway, name, {"id": 3, "note": "c", "price": 5}, schema=wider, evolve=True)
    answer = send(gateway, name, {"id": 1, "note": "new", "price": 7}, {"id": 4, "note": "d"}, mode="upsert")
    assert answer["commits"][0]["writeTargets"][0]["upsert"]["equalityFieldIds"] == [1]
    expected = [[1, "new", 7], [2, "b", None], [3, "c", 5], [4, "d", None]]
    assert rows(gateway, f"SELECT id, note, price FROM {name} ORDER BY id") == expected
    folder = f"rest/{namespace}/events"
    assert [key for key in store.keys(LAKE, folder) if key.endswith(".parquet")]
    store.put(LAKE, f"{folder}/data/old.parquet", b"nobody's")
    store.age_everything()
    counts = maintain(gateway, name)
    assert counts["compact"]["removedDeleteFiles"] > 0
    assert counts["removeOrphans"] == {"removedFiles": 1}
    assert rows(gateway, f"SELECT id, note, price FROM {name} ORDER BY id") == expected


def test_no_secret_is_in_any_log(stored: Stored) -> None:
    logs = [stored.running.log_path, *(stored.running.data_dir / "logs").glob("*.log")]
    written = "\n".join(log.read_text(errors="replace") for log in logs)
    assert "maintenance_done" in written
    assert stored.running.log_lines()
    assert stored.store.secret not in written
    assert not any(stored.store.secret in line for line in stored.running.command_lines())
