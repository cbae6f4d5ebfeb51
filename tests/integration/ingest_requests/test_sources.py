"""Files into tables through Spark's executors, over HTTP, read back by Spark and PyIceberg."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from pyiceberg.table import Table

from tests.integration.asking import JsonObject, rows
from tests.integration.log_tables import lines, named

pytestmark = pytest.mark.integration

NDJSON = "application/x-ndjson"
GZIP = b"\x1f\x8b"


def send(gateway: httpx.Client, log_table: Table, uri: str, **body: Any) -> httpx.Response:
    source = {"uri": uri, "format": "ndjson"} | body.pop("source", {})
    return gateway.post("/ingest", json={"table": named(log_table), "source": source} | body)


def test_files_are_one_snapshot_whatever_their_number(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number in range(5):
        part = lines({"id": number * 100 + index, "kind": "a"} for index in range(100))
        packed = number % 2
        name = f"part-{number}.ndjson" + (".gz" if packed else "")
        (inbox / name).write_bytes(gzip.compress(part) if packed else part)
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*.ndjson*", writeSchema=["id", "kind"])
    assert answer.status_code == 200, answer.text
    [commit] = answer.json()["commits"]
    assert (commit["addedRecords"], answer.json()["state"]) == (500, "COMMITTED")
    assert rows(gateway, f"SELECT count(*), count(DISTINCT id), count(note) FROM {named(log_table)}") == [
        [500, 500, 0]
    ]
    log_table.refresh()
    assert len(log_table.snapshots()) == 1
    assert log_table.scan().to_arrow().num_rows == 500


def test_records_go_where_the_route_says(gateway: httpx.Client, log_table: Table, inbox: Path) -> None:
    (inbox / "a.json").write_bytes(lines({"id": n, "kind": "ab"[n % 2]} for n in range(10)))
    target = {"table": named(log_table), "writeSchema": ["id", "kind"]}
    route = {"field": "kind", "to": {"a": target, "b": {**target, "branch": "audit"}}}
    source = {"uri": f"{inbox.as_uri()}/a.json", "format": "json"}
    answer = gateway.post("/ingest", json={"route": route, "source": source})
    assert answer.status_code == 200, answer.text
    assert rows(gateway, f"SELECT DISTINCT kind, count(*) OVER () FROM {named(log_table)}") == [["a", 5]]
    # A new branch begins with what `main` has at that moment.
    in_branch = f"SELECT count(*) FROM {named(log_table)} VERSION AS OF 'audit' WHERE kind = 'b'"
    assert rows(gateway, in_branch) == [[5]]


def test_a_bad_record_anywhere_leaves_nothing_behind(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    (inbox / "good.json").write_bytes(lines([{"id": 1}]))
    (inbox / "bad.json").write_bytes(lines([{"id": 1}, {"id": "x"}]))
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*.json")
    assert (answer.status_code, answer.json()["code"]) == (422, "RECORDS_INVALID")
    assert "bad.json" in answer.text
    log_table.refresh()
    assert log_table.current_snapshot() is None
    assert not list(Path(log_table.location().removeprefix("file://")).rglob("*.parquet"))


def test_bad_records_become_dead_letters(gateway: httpx.Client, log_table: Table, inbox: Path) -> None:
    (inbox / "some.json").write_bytes(lines([{"id": 1}, {"id": "x"}, {"id": 2}]))
    answer = send(gateway, log_table, f"{inbox.as_uri()}/some.json", onError="DEAD_LETTER")
    assert answer.status_code == 200, answer.text
    assert answer.json()["rejected"]["count"] == 1
    assert rows(gateway, f"SELECT count(*) FROM {named(log_table)}") == [[2]]
    dead_letters = rows(gateway, f"SELECT payload, position FROM {named(log_table)}__dead_letter")
    assert dead_letters == [['{"id": "x"}', f"{inbox.as_uri()}/some.json, line 2"]]


def test_what_is_not_allowed_is_not_read(gateway: httpx.Client, log_table: Table, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines([{"id": 1}]))
    answer = send(gateway, log_table, f"{tmp_path.as_uri()}/a.json")
    assert (answer.status_code, answer.json()["code"]) == (403, "SOURCE_NOT_ALLOWED")
    assert "ingest_source_prefixes" in answer.json()["detail"]


def test_the_same_request_reads_its_files_once(gateway: httpx.Client, log_table: Table, inbox: Path) -> None:
    (inbox / "a.json").write_bytes(lines([{"id": 1}]))
    request_id = str(uuid4())
    answers = [
        send(gateway, log_table, f"{inbox.as_uri()}/a.json", requestId=request_id).json()["ingestId"]
        for _ in range(2)
    ]
    assert len(set(answers)) == 1
    assert rows(gateway, f"SELECT count(*) FROM {named(log_table)}") == [[1]]


def sent_body(
    gateway: httpx.Client, log_table: Table, body: bytes, kind: str = NDJSON, **query: str
) -> JsonObject:
    headers = {"Content-Type": kind} | ({"Content-Encoding": "gzip"} if body.startswith(GZIP) else {})
    answer = gateway.post(
        "/ingest", params={"table": named(log_table)} | query, content=body, headers=headers
    )
    assert answer.status_code == 200, answer.text
    reported: JsonObject = answer.json()
    assert reported["state"] == "COMMITTED"
    return reported


def as_ndjson(records: pa.Table) -> bytes:
    return lines(records.to_pylist())


def as_csv(records: pa.Table) -> bytes:
    sink = io.BytesIO()
    pacsv.write_csv(records, sink)
    return sink.getvalue()


def as_parquet(records: pa.Table) -> bytes:
    sink = io.BytesIO()
    # The body is as large as text: the gateway of these tests has a threshold of one megabyte.
    pq.write_table(records, sink, row_group_size=2_000, compression="none", use_dictionary=False)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (NDJSON, as_ndjson),
        (NDJSON, lambda records: gzip.compress(as_ndjson(records), compresslevel=0)),
        ("text/csv", as_csv),
        ("application/vnd.apache.parquet", as_parquet),
    ],
    ids=["ndjson", "gzip", "csv", "parquet"],
)
def test_a_large_body_is_written_by_executors_in_few_files(
    gateway: httpx.Client, log_table: Table, kind: str, make: Callable[[pa.Table], bytes]
) -> None:
    count = 40_000
    notes = [f'{"x" * 60}"\n{number}' for number in range(count)]
    body = make(pa.table({"id": pa.array(range(count)), "note": notes}))
    assert len(body) > 2 * 1024**2
    [commit] = sent_body(gateway, log_table, body, kind)["commits"]
    sums = "count(*), count(DISTINCT id), sum(length(note))"
    lengths = sum(map(len, notes))
    assert rows(gateway, f"SELECT {sums} FROM {named(log_table)}") == [[count, count, lengths]]
    # There is about one file for each busy core, and each core has read a megabyte or two.
    assert 1 < commit["addedDataFiles"] <= 8


def test_of_a_large_upsert_the_last_row_of_each_key_is_there(gateway: httpx.Client, log_table: Table) -> None:
    keys, turns = 4_000, 12
    sent_body(gateway, log_table, lines([{"id": 0, "note": "old"}, {"id": -1, "note": "kept"}]))
    # Every part of the body has every key, and the last rows of keys are in different parts.
    body = lines(
        {"id": (number * 7) % keys, "note": f"{turn}", "kind": "x" * 60, "amount": turn * keys + number}
        for turn in range(turns)
        for number in range(keys if turn < turns - 1 else keys // 2)
    )
    assert len(body) > 3 * 1024**2
    upsert = {"mode": "upsert", "equalityFields": "id"}
    [commit] = sent_body(gateway, log_table, body, **upsert)["commits"]
    assert (commit["addedRecords"], commit["addedDataFiles"] > 1) == (keys, True)
    last_turn = f"SELECT note, count(*), count(DISTINCT id) FROM {named(log_table)} GROUP BY 1 ORDER BY 1"
    half = keys // 2
    assert rows(gateway, last_turn) == [["10", half, half], ["11", half, half], ["kept", 1, 1]]


def test_upserts_from_files_go_by_the_order_of_their_names(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number in range(5):
        part = lines({"id": id_, "note": f"{number}"} for id_ in range(number * 10, 50))
        packed = number % 2
        name = f"part-{number}.ndjson" + (".gz" if packed else "")
        (inbox / name).write_bytes(gzip.compress(part) if packed else part)
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*", mode="upsert", equalityFields=["id"])
    assert answer.status_code == 200, answer.text
    found = rows(gateway, f"SELECT id, note FROM {named(log_table)} ORDER BY id")
    assert found == [[number, f"{number // 10}"] for number in range(50)]


def test_rows_and_deletes_from_files_go_by_the_order_of_their_names(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number in range(5):
        # Each file deletes a third of the keys that the file before it has written, and others again.
        part = lines(
            {"id": id_, "op": "D"} if id_ % 3 == number % 3 else {"id": id_, "note": f"{number}", "op": "U"}
            for id_ in range(number * 10, 50)
        )
        (inbox / f"part-{number}.ndjson").write_bytes(part)
    target = {"table": named(log_table), "mode": "upsert", "equalityFields": ["id"]} | {
        "deleteWhen": {"field": "op", "values": ["D"]}
    }
    # The field of the route and the one that deletes may be the same.
    route = {"field": "op", "to": {"U": target, "D": target}}
    source = {"uri": f"{inbox.as_uri()}/*", "format": "ndjson"}
    answer = gateway.post("/ingest", json={"route": route, "source": source})
    assert answer.status_code == 200, answer.text
    last = [(number, number // 10) for number in range(50)]
    left = [[number, f"{file}"] for number, file in last if number % 3 != file % 3]
    [commit] = answer.json()["commits"]
    assert (commit["addedRecords"], commit["deletedKeys"]) == (len(left), 50 - len(left))
    assert rows(gateway, f"SELECT id, note FROM {named(log_table)} ORDER BY id") == left


def test_by_an_order_neither_names_of_files_nor_arrival_count(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number in range(4):
        part = lines(
            {"id": id_, "note": f"{9 - number}", "op": "D" if id_ % 5 == 0 else "U"}
            for id_ in range(number * 10, 40)
        )
        (inbox / f"part-{number}.ndjson").write_bytes(part)
    order: dict[str, Any] = {"mode": "upsert", "equalityFields": ["id"], "orderBy": "note"}
    order |= {"deleteWhen": {"field": "op", "values": ["D"]}}
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*", **order)
    assert answer.status_code == 200, answer.text
    assert answer.json()["commits"][0]["deletedKeys"] == 8
    left = [[number, "9"] for number in range(40) if number % 5]
    assert rows(gateway, f"SELECT id, note FROM {named(log_table)} ORDER BY id") == left
    (inbox / "part-0.ndjson").unlink()
    again = send(gateway, log_table, f"{inbox.as_uri()}/*", **order)
    # The deleted keys have no rows to lose against.
    [commit] = again.json()["commits"]
    assert (commit["addedRecords"], commit["deletedKeys"], commit["lateRecords"]) == (24, 6, 24)
    assert rows(gateway, f"SELECT id, note FROM {named(log_table)} ORDER BY id") == left


def test_an_upsert_with_a_bad_record_anywhere_leaves_nothing(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    (inbox / "a.json").write_bytes(lines([{"id": 1}, {"id": "x"}]))
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*", mode="upsert", equalityFields=["id"])
    assert (answer.status_code, answer.json()["code"]) == (422, "RECORDS_INVALID")
    log_table.refresh()
    assert log_table.current_snapshot() is None
    assert not list(Path(log_table.location().removeprefix("file://")).rglob("*.parquet"))
