"""CALL by POST /query: the gateway's own maintenance, with its floors and its rights."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.integration.sql_writes.conftest import Writing
from tests.polling import until

pytestmark = pytest.mark.integration
REFUSED = "STATEMENT_NOT_ALLOWED"


def test_a_call_is_one_maintenance(writing: Writing, fact: str) -> None:
    writing.done("changer", f"INSERT INTO {fact} VALUES (5, 'c')")
    request_id, name = str(uuid4()), fact.removeprefix("lake.")
    sql = f"CALL lake.system.rewrite_data_files(table => '{name}')"
    answer = writing.done("changer", sql, requestId=request_id)
    assert answer["result"]["rows"] == [[answer["queryId"], fact]]
    write = answer["write"]
    assert (write["kind"], write["table"], write["state"]) == ("CALL", fact, "COMMITTED")
    again = writing.done("changer", sql, requestId=request_id)
    assert (again["write"], again["result"]["rows"]) == (write, answer["result"]["rows"])

    def ended() -> dict[str, Any] | None:
        found: dict[str, Any] = writing.clients["changer"].get(f"/tables/{fact}/maintenance").json()
        (record,) = found["maintenances"]
        return record if record["endedAt"] else None

    record = until(ended, within_s=120)
    assert record is not None
    assert (record["maintenanceId"], record["state"]) == (answer["queryId"], "SUCCEEDED")
    assert (record["operations"], record["requestedBy"]) == (["compact"], "changer")
    assert record["results"][0]["operation"] == "compact"
    assert len(writing.rows(fact)) == 5


@pytest.mark.parametrize(
    ("role", "sql", "code"),
    [
        ("reader", "CALL lake.system.rewrite_data_files(table => '{t}')", "TABLE_ACCESS_DENIED"),
        ("changer", "CALL lake.system.rewrite_data_files(table => 'hidden.s')", "TABLE_ACCESS_DENIED"),
        ("changer", "CALL lake.system.rollback_to_snapshot(table => '{t}', snapshot_id => 1)", REFUSED),
        ("changer", "CALL lake.system.rollback_to_snapshot('{t}', 1)", REFUSED),
        ("changer", "CALL lake.other.rewrite_data_files(table => '{t}')", REFUSED),
        ("changer", "CALL rewrite_data_files(table => '{t}')", REFUSED),
        ("changer", "CALL spark_catalog.system.rewrite_data_files(table => '{t}')", REFUSED),
        ("changer", "CALL lake.system.rewrite_data_files('{t}')", "SQL_INVALID"),
        ("changer", "CALL lake.system.rewrite_data_files()", "SQL_INVALID"),
        ("changer", "CALL lake.system.rewrite_data_files(table => '{t}', where => 'id = 1')", REFUSED),
        ("changer", "CALL lake.system.rewrite_data_files(table => '{t}.files')", REFUSED),
        ("changer", "CALL lake.system.rewrite_data_files(table => lower('{t}'))", "SQL_INVALID"),
        (
            "changer",
            "CALL lake.system.expire_snapshots(table => '{t}', older_than => current_timestamp())",
            "SQL_INVALID",
        ),
        ("changer", "CALL lake.system.expire_snapshots(table => '{t}', stream_results => true)", REFUSED),
        ("changer", "CALL lake.system.expire_snapshots(table => '{t}', retain_last => 0)", "SQL_INVALID"),
        ("changer", "CALL lake.system.remove_orphan_files(table => '{t}', location => '/')", REFUSED),
    ],
)
def test_other_calls_are_refused(writing: Writing, fact: str, role: str, sql: str, code: str) -> None:
    assert writing.refusal(role, sql.format(t=fact)) == code
    found = writing.clients["boss"].get(f"/tables/{fact}/maintenance").json()
    assert found["maintenances"] == []


def test_the_floors_hold_for_calls(writing: Writing, fact: str) -> None:
    (moment,) = writing.done("reader", "SELECT string(current_timestamp())")["result"]["rows"][0]
    for procedure in ("expire_snapshots", "remove_orphan_files"):
        sql = f"CALL lake.system.{procedure}(table => '{fact}', older_than => TIMESTAMP '{moment}')"
        answer = writing.send("changer", sql)
        assert answer.json()["code"] == "MAINTENANCE_BELOW_FLOOR", answer.text
        assert answer.json()["write"]["state"] == "NOT_COMMITTED"
