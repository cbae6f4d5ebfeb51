"""Every query leaves a record, however it ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.asking import ask, cancel, computing, explain, post, problem
from tests.integration.guarded import Guarded
from tests.integration.lakehouse import files_of
from tests.integration.running import ENDLESS
from tests.polling import until

pytestmark = pytest.mark.integration

COLUMNS = "caller, sql, state, error_code, queued_ms, planning_ms, running_ms, row_count, byte_count, tags"


def record(guarded: Guarded, query_id: str) -> dict[str, Any]:
    query = f"SELECT {COLUMNS} FROM queries WHERE query_id = %s"
    [row] = until(lambda: guarded.store.read("metrics", query, query_id))
    return dict(zip(COLUMNS.split(", "), row, strict=True))


def test_a_query_that_succeeded_leaves_its_times_rows_and_scans(guarded: Guarded) -> None:
    sql = "SELECT return_id FROM lake.shop.returns"
    answer = ask(guarded.alice, sql, tags={"dashboard": "returns"})

    found = record(guarded, answer["queryId"])
    assert (found["caller"], found["sql"], found["state"]) == ("alice", sql, "SUCCEEDED")
    assert (found["error_code"], found["row_count"], found["tags"]) == (None, 1, {"dashboard": "returns"})
    assert found["byte_count"] == answer["manifest"]["totalByteCount"] > 0
    assert found["planning_ms"] > 0
    assert found["running_ms"] > 0
    scans = guarded.store.read(
        "metrics",
        "SELECT table_name, snapshot_id, data_files_total, data_files_selected, bytes_total, bytes_selected,"
        " rows_total, rows_selected, partitions_total, manifests_total FROM scans WHERE query_id = %s",
        answer["queryId"],
    )
    snapshot = guarded.lake.load_table("shop.returns").current_snapshot()
    assert snapshot is not None
    [file] = files_of(guarded.lake.load_table("shop.returns"))
    size = file.size
    assert scans == [("lake.shop.returns", snapshot.snapshot_id, 1, 1, size, size, 1, 1, 1, 1)]


def test_a_query_that_failed_leaves_its_error(guarded: Guarded) -> None:
    query_id = problem(post(guarded.bob, "SELECT 1 / 0"), 422, "QUERY_FAILED")["queryId"]
    found = record(guarded, query_id)
    assert (found["caller"], found["state"], found["error_code"]) == ("bob", "FAILED", "QUERY_FAILED")


@pytest.mark.parametrize(
    ("sql", "code"),
    [("SELEC", "SQL_SYNTAX"), ("DROP TABLE x", "SQL_WRITES_OFF"), ("SELECT x", "COLUMN_NOT_FOUND")],
)
def test_a_query_that_was_refused_leaves_its_error(guarded: Guarded, sql: str, code: str) -> None:
    query_id = post(guarded.alice, sql).json()["queryId"]
    assert record(guarded, query_id)["error_code"] == code


def test_a_query_that_was_canceled_leaves_how_long_it_ran(guarded: Guarded) -> None:
    query_id = computing(guarded.alice, ENDLESS)
    cancel(guarded.alice, query_id)
    found = record(guarded, query_id)
    assert (found["state"], found["error_code"]) == ("CANCELED", "QUERY_CANCELED")
    assert found["running_ms"] > 0


def test_a_query_that_timed_out_leaves_that(guarded: Guarded) -> None:
    query_id = problem(post(guarded.alice, ENDLESS, timeout="500ms"), 504, "QUERY_TIMED_OUT")["queryId"]
    found = record(guarded, query_id)
    assert (found["state"], found["error_code"]) == ("FAILED", "QUERY_TIMED_OUT")
    # On a busy machine, the time may end before the query is planned.
    assert found["planning_ms"] + found["running_ms"] >= 300


def test_a_text_that_postgresql_cannot_store_is_stored_as_well_as_it_can(guarded: Guarded) -> None:
    answer = ask(guarded.alice, "SELECT '\x00' AS nul", tags={"a\x00": "b\x00"})
    assert "nul" in record(guarded, answer["queryId"])["sql"]


def test_an_explanation_outlives_the_result(guarded: Guarded) -> None:
    answer = ask(guarded.alice, "SELECT return_id FROM lake.shop.returns")
    chunk = f"/query/{answer['queryId']}/chunks/0"
    fresh = explain(guarded.alice, answer["queryId"])
    until(lambda: guarded.alice.get(chunk).status_code == 410, within_s=20)
    assert explain(guarded.alice, answer["queryId"]) == fresh
    assert fresh["plans"]["spark"]
