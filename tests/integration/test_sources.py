"""Files into tables, by Spark's executors: over HTTP, read back by Spark and PyIceberg."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pyiceberg.table import Table

from tests.integration.asking import rows
from tests.integration.log_tables import lines, named

pytestmark = pytest.mark.integration


def send(gateway: httpx.Client, table: Table, uri: str, **body: Any) -> httpx.Response:
    source = {"uri": uri, "format": "ndjson"} | body.pop("source", {})
    return gateway.post("/ingest", json={"table": named(table), "source": source} | body)


def test_files_are_one_snapshot_whatever_their_number(
    gateway: httpx.Client, log_table: Table, inbox: Path
) -> None:
    for number in range(5):
        part = lines({"id": number * 100 + each, "kind": "a"} for each in range(100))
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
    letters = rows(gateway, f"SELECT payload FROM {named(log_table)}__dead_letter")
    assert letters == [['{"id": "x"}']]


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


def test_a_large_body_is_written_by_executors(gateway: httpx.Client, log_table: Table) -> None:
    # The gateway of these tests has a threshold of its own.
    count = 20_000
    body = lines({"id": n, "note": "x" * 60} for n in range(count))
    headers = {"Content-Type": "application/x-ndjson"}
    answer = gateway.post("/ingest", params={"table": named(log_table)}, content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    assert rows(gateway, f"SELECT count(*), count(DISTINCT id) FROM {named(log_table)}") == [[count, count]]
    [commit] = answer.json()["commits"]
    assert commit["addedDataFiles"] > 1
