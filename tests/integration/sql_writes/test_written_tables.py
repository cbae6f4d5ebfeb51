"""INSERT, DELETE, UPDATE and MERGE by POST /query: who may, what the answer says, and what a repeat does."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.asking import has_running_task, start
from tests.integration.sql_writes.conftest import Writing
from tests.polling import until

pytestmark = pytest.mark.integration


def test_an_insert_says_how_many_rows_and_which_snapshot(writing: Writing, fact: str) -> None:
    answer = writing.done("inserter", f"INSERT INTO {fact} VALUES (5, 'c'), (6, 'c')")
    snapshot = writing.lake.load_table(fact.removeprefix("lake.")).current_snapshot()
    assert snapshot is not None
    assert answer["write"] == {
        "queryId": answer["queryId"],
        "kind": "INSERT",
        "table": fact,
        "state": "COMMITTED",
        "snapshotId": str(snapshot.snapshot_id),
        "rowsAffected": 2,
    }
    assert answer["result"]["rows"] == [[2, snapshot.snapshot_id]]
    assert len(writing.rows(fact)) == 6
    # At once, in queries too.
    assert writing.done("reader", f"SELECT count(*) FROM {fact}")["result"]["rows"] == [[6]]


@pytest.mark.parametrize(
    ("sql", "count", "left"),
    [
        ("DELETE FROM {t} WHERE kind = 'b'", 2, [(1, "a"), (2, "a")]),
        ("DELETE FROM {t} WHERE id = 9", 0, [(1, "a"), (2, "a"), (3, "b"), (4, "b")]),
        ("UPDATE {t} SET kind = 'z' WHERE id = 1", None, [(1, "z"), (2, "a"), (3, "b"), (4, "b")]),
        (
            "MERGE INTO {t} t USING (SELECT 4 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
            None,
            [(1, "a"), (2, "a"), (3, "b")],
        ),
    ],
)
def test_rows_are_changed(
    writing: Writing, fact: str, sql: str, count: int | None, left: list[tuple[int, str]]
) -> None:
    write = writing.done("changer", sql.format(t=fact))["write"]
    assert (write["state"], write["rowsAffected"]) == ("COMMITTED", count)
    assert writing.rows(fact) == left


def test_the_same_request_id_writes_once(writing: Writing, fact: str) -> None:
    request_id = str(uuid4())
    sql = f"INSERT INTO {fact} VALUES (7, 'x')"
    with ThreadPoolExecutor(4) as threads:
        sent = [threads.submit(writing.done, "inserter", sql, requestId=request_id) for _ in range(4)]
        answers = [each.result() for each in sent]
    assert len({answer["write"]["snapshotId"] for answer in answers}) == 1
    assert writing.refusal("inserter", f"DELETE FROM {fact}", requestId=request_id) == "REQUEST_ID_REUSED"
    assert len(writing.rows(fact)) == 5


@pytest.mark.parametrize(
    ("role", "sql"),
    [
        ("reader", "INSERT INTO {t} VALUES (9, 'x')"),
        ("inserter", "INSERT OVERWRITE {t} VALUES (9, 'x')"),
        ("inserter", "INSERT INTO {t} SELECT * FROM {t}"),
        ("inserter", "DELETE FROM {t}"),
        ("reader", "UPDATE {t} SET id = 1"),
        ("filtered", "DELETE FROM {t}"),
        ("filtered", "UPDATE {t} SET id = 1"),
        ("filtered", "INSERT OVERWRITE {t} VALUES (9, 'x')"),
        ("filtered", "MERGE INTO {t} t USING {t} s ON t.id = s.id WHEN MATCHED THEN DELETE"),
        ("masked", "DELETE FROM {t} WHERE kind = 'a'"),
    ],
)
def test_who_may_not_is_refused(writing: Writing, fact: str, role: str, sql: str) -> None:
    before = writing.rows(fact)
    assert writing.refusal(role, sql.format(t=fact)) == "TABLE_ACCESS_DENIED"
    assert writing.rows(fact) == before


def test_only_rows_that_its_caller_sees_are_inserted(writing: Writing, fact: str) -> None:
    writing.done("filtered", f"INSERT INTO {fact} SELECT id + 100, kind FROM {fact}")
    assert [row for row in writing.rows(fact) if row[0] > 100] == [(101, "a"), (102, "a")]


def test_masked_values_are_not_written(writing: Writing, fact: str) -> None:
    sql = f"INSERT INTO {fact} SELECT id, kind FROM {fact}"
    assert writing.refusal("masked", sql) == "STATEMENT_NOT_ALLOWED"
    assert len(writing.rows(fact)) == 4


def test_each_write_is_audited(writing: Writing, fact: str) -> None:
    query_id = writing.done("inserter", f"INSERT INTO {fact} VALUES (5, 'c')")["queryId"]

    def audited() -> list[dict[str, Any]]:
        answer = writing.clients["boss"].get("/audit", params={"principal": "inserter", "limit": 100})
        assert answer.status_code == 200, answer.text
        events = [json.loads(line) for line in answer.text.splitlines()]
        return [event for event in events if event.get("queryId") == query_id]

    (event,) = until(audited)
    assert (event["action"], event["outcome"]) == ("QUERY", "SUCCEEDED")
    assert event["tables"] == [fact]


def test_a_write_whose_engine_is_killed_is_told_truly(writing: Writing, fact: str) -> None:
    request_id = str(uuid4())
    sql = f"INSERT INTO {fact} SELECT id, string(hash(id)) FROM range(0, 100000000000, 1, 2)"
    client = writing.clients["inserter"]
    query_id = start(client, sql, requestId=request_id)
    until(lambda: has_running_task(client, query_id), within_s=90)
    jvm = writing.gateway.jvm()
    assert jvm is not None
    jvm.kill()

    def ended() -> dict[str, Any] | None:
        found: dict[str, Any] = client.get(f"/query/{query_id}").json()
        return found if found["status"]["state"] == "FAILED" else None

    answer = until(ended, within_s=90)
    assert answer is not None
    assert answer["write"]["state"] == "NOT_COMMITTED", answer
    assert writing.refusal("inserter", sql, requestId=request_id) == "ENGINE_LOST"
    assert len(writing.rows(fact)) == 4
