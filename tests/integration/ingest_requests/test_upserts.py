"""Upserts over HTTP: rows are replaced, queries are still filtered, and maintenance cleans up."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, StructType
from sqlalchemy import URL, create_engine

from service.adapters.postgres.shared.advisory_lock import advisory_lock
from tests.integration.asking import JsonObject, ask, explain, rows
from tests.integration.maintenance_calls import compact
from tests.integration.queries.test_dynamic_filtering import ALWAYS
from tests.integration.running import READY_WITHIN_S, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

PLACE = StructType(NestedField(11, "city", StringType()), NestedField(12, "zip", LongType()))
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day_key", IntegerType(), required=True),
    NestedField(3, "note", StringType()),
    NestedField(4, "price", LongType()),
    NestedField(5, "place", PLACE),
    identifier_field_ids=[1, 2],
)
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day_key"))
NEVER = {"dynamicFiltering": {"enabled": False}}


@pytest.fixture
def items(lake: SqlCatalog) -> Iterator[Table]:
    """A table with the key fields `id` and `day_key`, partitioned by day."""
    yield from made(lake, BY_DAY)


@pytest.fixture
def flat(lake: SqlCatalog) -> Iterator[Table]:
    """The same table without partitions."""
    yield from made(lake, PartitionSpec())


def made(lake: SqlCatalog, spec: PartitionSpec) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.items_{uuid4().hex[:8]}"
    yield lake.create_table(name, SCHEMA, partition_spec=spec, properties={"format-version": "2"})
    lake.drop_table(name)


def named(table: Table) -> str:
    return ".".join(("lake", *table.name()))


def send(gateway: httpx.Client, table: Table, *records: dict[str, Any], **body: Any) -> JsonObject:
    response = gateway.post("/ingest", json={"table": named(table), "records": records} | body)
    assert response.status_code == 200, response.text
    answer: JsonObject = response.json()
    assert answer["state"] == "COMMITTED", answer
    return answer


def send_accepted(gateway: httpx.Client, table: Table, **body: Any) -> JsonObject:
    response = gateway.post("/ingest", json={"table": named(table), "wait": "ACCEPTED"} | body)
    assert response.status_code == 202, response.text
    answer: JsonObject = response.json()
    return answer


def upsert(gateway: httpx.Client, table: Table, *records: dict[str, Any], **body: Any) -> JsonObject:
    return send(gateway, table, *records, mode="upsert", **body)


def row(number: int, day: int = 1, **fields: Any) -> dict[str, Any]:
    return {"id": number, "day_key": day, **fields}


def found(gateway: httpx.Client, table: Table, columns: str = "id, day_key, note, price") -> list[Any]:
    return rows(gateway, f"SELECT {columns} FROM {named(table)} ORDER BY id, day_key, note")


def test_rows_are_replaced_whole_and_the_answer_says_so(gateway: httpx.Client, items: Table) -> None:
    send(gateway, items, row(1, note="old", price=5), row(2, note="old"), row(1, 2, note="other day"))
    answer = upsert(
        gateway, items, row(1, note="first"), row(3, note="x"), row(1, note="last"),
        writeSchema=["note", "id", "day_key"],
    )  # fmt: skip
    [target] = answer["commits"][0]["writeTargets"]
    assert (target["writeSchemaColumnIds"], target["records"]) == ([3, 1, 2], 2)
    assert target["upsert"]["equalityFieldIds"] == [1, 2]
    assert "NULL" in target["upsert"]["note"]
    assert gateway.get(answer["links"]["self"]).json() == answer
    # The price is not in the write schema.
    assert found(gateway, items) == [
        [1, 1, "last", None],
        [1, 2, "other day", None],
        [2, 1, "old", None],
        [3, 1, "x", None],
    ]


def test_requests_take_effect_in_their_order(gateway: httpx.Client, flat: Table) -> None:
    upsert(gateway, flat, row(1, note="a"), equalityFields=["id"])
    send(gateway, flat, row(1, note="b"))
    assert found(gateway, flat, "note") == [["a"], ["b"]]
    upsert(gateway, flat, row(1, 7, note="c"), equalityFields=["id"])
    assert found(gateway, flat, "day_key, note") == [[7, "c"]]


def test_whoever_upserts_at_once_each_key_is_there_once(gateway: httpx.Client, items: Table) -> None:
    def sent(number: int) -> JsonObject:
        return upsert(gateway, items, *(row(key, key % 2, note=str(number)) for key in range(6)))

    with ThreadPoolExecutor(4) as clients:
        list(clients.map(sent, range(8)))
    assert [values[0] for values in found(gateway, items, "id")] == list(range(6))
    assert len({values[0] for values in found(gateway, items, "note")}) == 1


@contextmanager
def paused_committer(running: RunningGateway, table: Table) -> Iterator[None]:
    """Holds the table's round, as another replica would, so that nothing is committed to it."""
    server = running.data_dir / "postgres"
    port, password = int((server / "port").read_text()), (server / "password").read_text()
    url = URL.create("postgresql+psycopg", "postgres", password, "127.0.0.1", port, "sluice")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with advisory_lock(engine, "lake", *table.name(), "main") as connection:
        assert connection is not None
        yield
    engine.dispose()


def committed(gateway: httpx.Client, accepted: JsonObject) -> JsonObject:
    link = accepted["links"]["self"]
    until(lambda: gateway.get(link).json()["state"] != "ACCEPTED")
    answer: JsonObject = gateway.get(link).json()
    assert answer["state"] == "COMMITTED", answer
    return answer


def test_six_upserts_at_once_are_one_snapshot(
    running: RunningGateway, gateway: httpx.Client, flat: Table
) -> None:
    """They have several write schemas and equality fields; one is an append, and one is sent twice."""
    send(gateway, flat, row(1, note="old", price=1), row(2, note="old", price=2), row(9, note="old"))
    upserts: list[dict[str, Any]] = [
        {"records": [row(1, note="a"), row(3, note="a")], "equalityFields": ["id"]},
        {
            "records": [row(1, 2, price=7)],
            "equalityFields": ["id"],
            "writeSchema": ["price", "id", "day_key"],
        },
        {"records": [row(4, note="a")], "equalityFields": ["note"], "writeSchema": ["id", "day_key", "note"]},
        {"records": [row(5, note=None)], "equalityFields": ["note", "day_key"]},
        {"records": [row(6, 3), row(2, note="six")], "equalityFields": ["id"], "writeSchema": "infer"},
        {"records": [row(6, 4, note="last")], "equalityFields": ["id"]},
    ]
    with paused_committer(running, flat):
        accepted = [
            send_accepted(gateway, flat, mode="upsert", requestId=str(uuid4()), **upsert)
            for upsert in upserts[:5]
        ]
        appended = send_accepted(gateway, flat, records=[row(6, note="appended")])
        last = {"mode": "upsert", "requestId": str(uuid4()), **upserts[5]}
        accepted += [appended, send_accepted(gateway, flat, **last)]
        assert send_accepted(gateway, flat, **last)["ingestId"] == accepted[-1]["ingestId"]
    answers = [committed(gateway, answer) for answer in accepted]
    assert [answer["commits"][0]["addedRecords"] for answer in answers] == [2, 1, 1, 1, 2, 1, 1]
    [snapshot] = {answer["commits"][0]["snapshotId"] for answer in answers}
    assert len(flat.refresh().metadata.snapshots) == 2
    assert flat.metadata.current_snapshot_id == snapshot
    assert found(gateway, flat) == [
        [1, 2, None, 7],
        [2, 1, "six", None],
        [4, 1, "a", None],
        [5, 1, None, None],
        [6, 4, "last", None],
        [9, 1, "old", None],
    ]


def test_writes_of_one_request_take_effect_in_their_order(gateway: httpx.Client, flat: Table) -> None:
    name, by_id = named(flat), {"mode": "upsert", "equalityFields": ["id"]}
    writes = [
        {"table": name, "records": [row(1, note="appended"), row(2, note="appended")]},
        {"table": name, "records": [row(1, note="a"), row(3, note="a")], **by_id},
        {"table": name, "records": [row(3, price=5)], "writeSchema": ["id", "price", "day_key"], **by_id},
        {"table": name, "records": [row(4, note="a")], "mode": "upsert", "equalityFields": ["note"]},
        {"table": name, "records": [row(2, note="again")]},
    ]
    response = gateway.post("/ingest", json={"writes": writes})
    assert response.status_code == 200, response.text
    [commit] = response.json()["commits"]
    assert [target["records"] for target in commit["writeTargets"]] == [2, 2, 1, 1, 1]
    assert [snapshot.snapshot_id for snapshot in flat.refresh().metadata.snapshots] == [commit["snapshotId"]]
    expected = [
        [2, 1, "again", None],
        [2, 1, "appended", None],
        [3, 1, None, 5],
        [4, 1, "a", None],
    ]
    assert found(gateway, flat) == expected
    # No row was in the table before, so there is nothing to delete, and every reader can read it.
    assert len(flat.scan().to_arrow()) == len(expected)


def test_what_is_refused_writes_nothing(gateway: httpx.Client, items: Table) -> None:
    def code(**body: Any) -> tuple[int, str]:
        response = gateway.post("/ingest", json={"table": named(items), "records": [row(1)]} | body)
        return response.status_code, response.json()["code"]

    assert code(mode="upsert", equalityFields=["id"]) == (422, "WRITE_SCHEMA_INVALID")
    assert code(mode="upsert", writeSchema=["id"]) == (422, "WRITE_SCHEMA_INVALID")
    assert code(mode="upsert", equalityFields=["day_key", "place.zip"]) == (422, "WRITE_SCHEMA_INVALID")
    assert code(equalityFields=["id"]) == (422, "INGEST_INVALID")
    assert code(mode="merge") == (422, "INVALID_REQUEST")
    items.refresh()
    assert items.current_snapshot() is None


def test_pruned_or_not_queries_find_the_rows_that_are_there(gateway: httpx.Client, items: Table) -> None:
    """The table is the probe side, the build side, or both."""
    days = 20
    upsert(gateway, items, *(row(n, day, note="old", price=n) for day in range(days) for n in range(3)))
    upsert(gateway, items, *(row(0, day, note="new", price=100 + day) for day in range(0, days, 2)))
    upsert(gateway, items, *(row(1, day, note="gone", price=None) for day in range(5)))
    name = named(items)
    probe = (
        f"SELECT f.id, f.day_key, f.note FROM {name} f JOIN shop.calendar c "
        f"ON f.day_key + 2451545 = c.day_key WHERE c.month = 1 ORDER BY 1, 2"
    )
    build = (
        "SELECT count(*), sum(s.amount) FROM lake.shop.sales s JOIN "
        f"(SELECT day_key + 2451545 AS k FROM {name} WHERE note = 'new') d ON s.day_key = d.k"
    )
    by_old_value = (
        f"SELECT count(*) FROM {name} f JOIN {name} d ON f.day_key = d.day_key "
        "WHERE d.note = 'old' AND d.id = 0"
    )
    by_new_value = (
        f"SELECT f.id, f.day_key, f.price FROM {name} f JOIN {name} d ON f.day_key = d.day_key "
        "WHERE d.note = 'new' AND d.price > 105 ORDER BY 1, 2, 3"
    )
    for sql in (probe, build, by_old_value, by_new_value):
        pruned = ask(gateway, sql, **ALWAYS)
        assert pruned["result"]["rows"] == rows(gateway, sql, **NEVER)
        reported = explain(gateway, pruned["queryId"])
        if sql in (by_old_value, by_new_value):
            assert [filter_["reason"] for filter_ in reported["filters"] if filter_["applied"]] == ["APPLIED"]
    assert rows(gateway, by_old_value, **ALWAYS) == [[3 * days // 2]]
    assert len(rows(gateway, by_new_value, **ALWAYS)) == 3 * 7


def test_rows_stay_replaced_when_an_equality_field_becomes_wider(
    gateway: httpx.Client, items: Table, flat: Table
) -> None:
    for table in (items, flat):
        send(gateway, table, *(row(number, number % 2, note="old") for number in range(4)))
        upsert(gateway, table, row(0, 0, note="new"), row(1, 1, note="new"))
        # By now, the engine has read the deletes with the field's original type.
        before = found(gateway, table)
        with table.refresh().update_schema() as update:
            update.update_column("day_key", LongType())
        assert found(gateway, table) == before
        compact(gateway, table)
        assert found(gateway, table) == before
        assert [values[2] for values in before] == ["new", "new", "old", "old"]


def test_an_upsert_waits_for_an_engine_that_is_being_replaced(
    running: RunningGateway, gateway: httpx.Client, flat: Table
) -> None:
    send(gateway, flat, row(1, note="old"))
    jvm = running.jvm()
    assert jvm is not None
    jvm.kill()
    body = {"table": named(flat), "records": [row(1, note="new")], "wait": "ACCEPTED"}
    upserted = gateway.post("/ingest", json=body | {"mode": "upsert"}).json()
    appended = gateway.post("/ingest", json=body).json()
    for ingest in (upserted, appended):
        until(lambda ingest=ingest: gateway.get(ingest["links"]["self"]).status_code == 200, READY_WITHIN_S)  # type: ignore[misc]
        assert gateway.get(ingest["links"]["self"]).json()["state"] == "COMMITTED"
    until(lambda: gateway.get("/readyz").status_code == 200, READY_WITHIN_S)
    assert found(gateway, flat, "note") == [["new"], ["new"]]


def test_maintenance_takes_the_deletes_away_and_the_old_snapshots(
    gateway: httpx.Client, items: Table, flat: Table
) -> None:
    for table in (items, flat):
        for turn in range(3):
            upsert(gateway, table, *(row(n, n % 3, note=str(turn)) for n in range(6)))
        before = found(gateway, table)
        folder = Path(table.location().removeprefix("file://"))
        young, old = folder / "data" / "young.parquet", folder / "data" / "old.parquet"
        for path in (young, old):
            path.write_bytes(b"nobody's")
        three_days_ago = time.time() - 3 * 86_400
        for path in folder.rglob("*"):
            if path.is_file() and path != young:
                os.utime(path, (three_days_ago, three_days_ago))
        with pytest.raises(ValueError, match="equality deletes"):
            table.refresh().scan().to_arrow()
        body = {
            "operations": ["compact", "expire", "removeOrphans"],
            "snapshotsOlderThanHours": 0,
            "orphansOlderThanHours": 24,
        }
        response = gateway.post(f"/tables/{named(table)}/maintenance", json=body)
        assert response.status_code == 202, response.text
        link = response.json()["links"]["self"]
        until(lambda link=link: gateway.get(link).status_code == 200, 120)  # type: ignore[misc]
        done = gateway.get(link).json()
        assert done["state"] == "SUCCEEDED", done
        counts = {result["operation"]: result["counts"] for result in done["results"]}
        assert counts["compact"]["rewrittenDataFiles"] > 0
        assert counts["compact"]["removedDeleteFiles"] > 0
        assert counts["expire"]["expiredSnapshots"] >= 3
        assert counts["removeOrphans"] == {"removedFiles": 1}
        assert (young.exists(), old.exists()) == (True, False)
        assert found(gateway, table) == before
        read = table.refresh().scan(selected_fields=("id", "note")).to_arrow().to_pylist()
        assert sorted(record["id"] for record in read) == [values[0] for values in before]
        upsert(gateway, table, row(0, 0, note="after"))
        assert [values[2] for values in found(gateway, table)].count("after") == 1
        listed = gateway.get(f"/tables/{named(table)}/maintenance").json()
        assert [maintenance["maintenanceId"] for maintenance in listed["maintenances"]] == [
            done["maintenanceId"]
        ]
