"""Writes that meet other commits, and writes that are ended while they run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest

from tests.integration.asking import cancel, computing, problem
from tests.integration.sql_writes.conftest import FACT, Writing
from tests.polling import until

pytestmark = pytest.mark.integration

# It computes for some seconds, and then matches the row 1.
SLOW_KEY = "(SELECT max(pmod(hash(id), 2)) AS id FROM range(0, 400000000, 1, 1))"
LONG = "SELECT id, string(hash(id)) FROM range(0, 100000000000, 1, 2)"


def ended(writing: Writing, role: str, query_id: str) -> dict[str, Any]:
    def answer() -> dict[str, Any] | None:
        found: dict[str, Any] = writing.clients[role].get(f"/query/{query_id}").json()
        return found if found["status"]["state"] in ("SUCCEEDED", "FAILED", "CANCELED") else None

    found = until(answer, within_s=120)
    assert found is not None
    return found


def test_a_commit_that_contradicts_a_merge_wins(writing: Writing, fact: str) -> None:
    sql = (
        f"MERGE INTO {fact} t USING {SLOW_KEY} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET kind = 'ours' "
        "WHEN NOT MATCHED THEN INSERT (id, kind) VALUES (s.id, 'ours')"
    )
    query_id = computing(writing.clients["changer"], sql)
    other = writing.lake.load_table(fact.removeprefix("lake."))
    other.overwrite(pa.table({"id": [1, 2], "kind": ["other", "other"]}, schema=FACT))
    answer = ended(writing, "changer", query_id)
    left = writing.rows(fact)
    # Which of both came first is the engine's: in either order, nothing of the other one is lost.
    if answer["status"]["state"] == "SUCCEEDED":
        assert left == [(1, "ours"), (2, "other")]
        return
    assert answer["status"]["error"]["code"] == "COMMIT_CONFLICT"
    assert answer["write"]["state"] == "NOT_COMMITTED"
    assert left == [(1, "other"), (2, "other")]


def test_inserts_at_once_are_all_there(writing: Writing, fact: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        sent = [
            threads.submit(writing.done, "inserter", f"INSERT INTO {fact} VALUES ({number}, 'n')")
            for number in range(10, 14)
        ]
        answers = [each.result() for each in sent]
    assert len({answer["write"]["snapshotId"] for answer in answers}) == 4
    assert [row[0] for row in writing.rows(fact)] == [1, 2, 3, 4, 10, 11, 12, 13]


def test_a_canceled_write_has_written_nothing(writing: Writing, fact: str) -> None:
    request_id = str(uuid4())
    sql = f"INSERT INTO {fact} {LONG}"
    query_id = computing(writing.clients["inserter"], sql, requestId=request_id)
    cancel(writing.clients["inserter"], query_id)
    answer = ended(writing, "inserter", query_id)
    assert (answer["status"]["state"], answer["write"]["state"]) == ("CANCELED", "NOT_COMMITTED")
    # The same request is the same write, and never a second one.
    again = writing.send("inserter", sql, requestId=request_id).json()
    assert (again["queryId"], again["status"]["state"]) == (query_id, "CANCELED")
    assert len(writing.rows(fact)) == 4


def test_a_write_ends_with_its_timeout(writing: Writing, fact: str) -> None:
    answer = writing.send("inserter", f"INSERT INTO {fact} {LONG}", timeout="20s")
    found = problem(answer, answer.status_code, "QUERY_TIMED_OUT")
    # Without a write, the time was over before it had begun.
    assert found.get("write", {"state": "NOT_COMMITTED"})["state"] == "NOT_COMMITTED"
    assert len(writing.rows(fact)) == 4


def test_a_write_is_neither_explained_nor_planned(writing: Writing, fact: str) -> None:
    sql = f"INSERT INTO {fact} VALUES (7, 'x')"
    assert writing.refusal("changer", f"EXPLAIN {sql}") == "STATEMENT_NOT_ALLOWED"
    planned = writing.clients["changer"].post("/explain", json={"sql": sql})
    problem(planned, 403, "STATEMENT_NOT_ALLOWED")
    assert len(writing.rows(fact)) == 4
