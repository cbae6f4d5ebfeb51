"""Queries that are answered with earlier results, through a gateway as its operator runs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import IntegerType

from tests.integration.asking import JsonObject, ask, cancel, explain, post, start, status
from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.made_views import make_view
from tests.integration.maintenance_calls import compact
from tests.integration.running import ENDLESS, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

REUSE = {"reuseResult": True}
NEVER = {"reuseResult": False}
ALWAYS_PRUNED = {"dynamicFiltering": {"minTableBytes": 0}}


def reused(client: httpx.Client, sql: str, **body: Any) -> JsonObject | None:
    """Returns what the answer says of an earlier result."""
    found: JsonObject | None = ask(client, sql, **(REUSE | body))["reused"]
    return found


def is_same_as_a_run(client: httpx.Client, sql: str) -> bool:
    """Whether an answer is a new run, or has the rows of one."""
    return bool(ask(client, sql, **REUSE)["result"]["rows"] == ask(client, sql, **NEVER)["result"]["rows"])


@pytest.fixture
def table(lake: SqlCatalog, new_name: str) -> Table:
    table = make(lake, new_name, RETURNS)
    table.append(returns_row(1))
    return table


@pytest.fixture
def count(table: Table, new_name: str) -> str:
    assert table.current_snapshot()
    return f"SELECT count(*) AS n, max(return_id) AS newest FROM lake.{new_name}"


def test_an_equal_query_is_answered_with_the_earlier_result(gateway: httpx.Client, count: str) -> None:
    first = ask(gateway, count, **REUSE)
    again = ask(gateway, f"{count.replace(' FROM', '   FROM')} ; -- of a dashboard", **REUSE)
    assert first["reused"] is None
    assert again["reused"]["from"] == first["queryId"] != again["queryId"]
    assert again["reused"]["ageMs"] >= 0
    assert (again["result"]["rows"], again["manifest"]) == (first["result"]["rows"], first["manifest"])
    assert explain(gateway, again["queryId"])["reused"] == again["reused"]
    assert explain(gateway, first["queryId"])["reused"] is None
    assert status(gateway, again["queryId"])["result"]["rows"] == [[1, 1]]
    [scan] = explain(gateway, again["queryId"])["scans"]
    assert (scan["hasRun"], scan["bytes"]["selected"], scan["dataFiles"]["total"]) == (False, 0, 1)


def test_the_choice_is_the_callers(gateway: httpx.Client, count: str) -> None:
    assert reused(gateway, count) is None
    assert reused(gateway, count) is not None
    for declined in (False, None):
        assert reused(gateway, count, reuseResult=declined) is None
    fresh = ask(gateway, count, reuseResult="REFRESH")
    assert fresh["reused"] is None
    found = reused(gateway, count)
    assert found is not None
    assert found["from"] == fresh["queryId"]
    assert reused(gateway, count, dynamicFiltering={"verify": True}) is None


@pytest.mark.parametrize(
    "commit",
    [
        lambda table: table.append(returns_row(2)),
        lambda table: table.overwrite(returns_row(3)),
        lambda table: table.delete("return_id = 1"),
        lambda table: table.transaction().set_properties({"a": "b"}).commit_transaction(),
        lambda table: _add_column(table),
        lambda table: _rename_column(table),
        lambda table: table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "t").commit(),
    ],
    ids=["append", "overwrite", "delete", "properties", "new column", "renamed column", "tag"],
)
def test_after_any_commit_the_query_runs(
    gateway: httpx.Client, lake: SqlCatalog, count: str, new_name: str, commit: Callable[[Table], object]
) -> None:
    everything = f"SELECT * FROM lake.{new_name}"
    for sql in (count, everything):
        assert reused(gateway, sql) is None
        assert reused(gateway, sql) is not None
    commit(lake.load_table(new_name))
    for sql in (count, everything):
        answer = ask(gateway, sql, **REUSE)
        plain = ask(gateway, sql, **NEVER)
        assert answer["reused"] is None
        assert answer["manifest"]["columns"] == plain["manifest"]["columns"]
        assert sorted(map(str, answer["result"]["rows"])) == sorted(map(str, plain["result"]["rows"]))
        assert reused(gateway, sql) is not None


def _add_column(table: Table) -> None:
    with table.update_schema() as update:
        update.add_column("added", IntegerType())


def _rename_column(table: Table) -> None:
    with table.update_schema() as update:
        update.rename_column("reason", "why")


def test_a_commit_of_the_gateway_itself_makes_the_query_run(
    gateway: httpx.Client, count: str, new_name: str
) -> None:
    assert reused(gateway, count) is None
    body = {"table": f"lake.{new_name}", "writeSchema": ["return_id"], "records": [{"return_id": 7}]}
    assert gateway.post("/ingest", json=body).status_code == 200
    assert ask(gateway, count, **REUSE)["result"]["rows"] == [[2, 7]]


def test_compaction_is_a_commit(gateway: httpx.Client, table: Table, count: str) -> None:
    for number in range(2, 9):
        table.append(returns_row(number))
    assert reused(gateway, count) is None
    assert compact(gateway, table)["rewrittenDataFiles"] > 1
    answer = ask(gateway, count, **REUSE)
    assert (answer["reused"], answer["result"]["rows"]) == (None, [[8, 8]])


def test_a_rollback_is_a_commit(gateway: httpx.Client, lake: SqlCatalog, count: str, new_name: str) -> None:
    table = lake.load_table(new_name)
    first = table.current_snapshot()
    assert first is not None
    assert reused(gateway, count) is None
    table.append(returns_row(2))
    assert ask(gateway, count, **REUSE)["result"]["rows"] == [[2, 2]]
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    answer = ask(gateway, count, **REUSE)
    assert (answer["reused"], answer["result"]["rows"]) == (None, [[1, 1]])


def test_a_table_that_was_made_again_is_another_one(
    gateway: httpx.Client, lake: SqlCatalog, count: str, new_name: str
) -> None:
    assert reused(gateway, count) is None
    lake.drop_table(new_name)
    response = post(gateway, count, **REUSE)
    assert (response.status_code, response.json()["code"]) == (404, "TABLE_NOT_FOUND")
    make(lake, new_name, RETURNS)
    answer = ask(gateway, count, **REUSE)
    assert (answer["reused"], answer["result"]["rows"]) == (None, [[0, None]])


def test_versions_are_those_of_the_moment(
    gateway: httpx.Client, lake: SqlCatalog, table: Table, new_name: str
) -> None:
    first = table.current_snapshot()
    assert first is not None
    table.manage_snapshots().create_branch(first.snapshot_id, "work").create_tag(
        first.snapshot_id, "june"
    ).commit()
    texts = [
        f"SELECT count(*) FROM lake.{new_name} VERSION AS OF {version}"
        for version in (f"{first.snapshot_id}", "'work'", "'june'")
    ]
    for sql in texts:
        assert reused(gateway, sql) is None
        assert reused(gateway, sql) is not None
    table.append(returns_row(2), branch="work")
    newest = lake.load_table(new_name).snapshot_by_name("work")
    assert newest is not None
    assert [ask(gateway, sql, **REUSE)["result"]["rows"] for sql in texts] == [[[1]], [[2]], [[1]]]
    current = lake.load_table(new_name)
    current.manage_snapshots().remove_tag("june").create_tag(newest.snapshot_id, "june").commit()
    assert [ask(gateway, sql, **REUSE)["result"]["rows"] for sql in texts] == [[[1]], [[2]], [[2]]]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM lake.{} TIMESTAMP AS OF now()",
        "SELECT count(*) FROM lake.{}.branch_main",
        "SELECT count(*) FROM lake.{}.files",
        "SELECT count(*) FROM lake.{} TABLESAMPLE (50 PERCENT)",
        "SELECT count(*) FROM lake.{} WHERE rand() >= 0",
        "SELECT current_date(), count(*) FROM lake.{}",
        "SELECT current_user(), count(*) FROM lake.{}",
        "SELECT count(*) FROM lake.{} WHERE DATE'today' > DATE'2020-01-01'",
        "SELECT count(*) FROM lake.{} WHERE CAST(concat('to', 'day') AS DATE) > DATE'2020-01-01'",
        "SELECT max(CAST(reason AS TIMESTAMP)) FROM lake.{} WHERE return_id < 0",
    ],
)
def test_what_may_differ_without_a_commit_is_never_reused(
    gateway: httpx.Client, table: Table, new_name: str, sql: str
) -> None:
    assert table.current_snapshot()
    for _ in range(2):
        assert reused(gateway, sql.format(new_name)) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS one",
        "SELECT * FROM VALUES (1), (2) AS t(a)",
        "SELECT sum(id) FROM range(10)",
        "WITH c AS (SELECT return_id FROM lake.{0}) SELECT count(*) FROM c a JOIN c b USING (return_id)",
        "SELECT count(*) FROM lake.{0} WHERE return_id IN (SELECT max(return_id) FROM lake.{0})",
        "SELECT reason, row_number() OVER (ORDER BY return_id) FROM lake.{0}",
        "SELECT count(*) FROM lake.{0} WHERE reason >= '2026-01-01'",
        "SELECT date_trunc('month', TIMESTAMP'2026-01-01 12:00:00'), count(*) FROM lake.{0}",
        "SELECT nvl(nullif(reason, 'x'), 'y'), upper(reason) FROM lake.{0} ORDER BY 1 LIMIT 1",
        "SELECT explode(sequence(1, return_id)) FROM lake.{0}",
        "SELECT * FROM lake.{0} UNION ALL SELECT * FROM lake.{0}",
    ],
)
def test_what_has_one_answer_is_reused(gateway: httpx.Client, table: Table, new_name: str, sql: str) -> None:
    assert table.current_snapshot()
    text = f"{sql.format(new_name)} -- {new_name}"
    ask(gateway, text, **REUSE)
    assert reused(gateway, text) is not None
    assert is_same_as_a_run(gateway, text)


def test_views_are_those_of_the_moment(
    gateway: httpx.Client, lake: SqlCatalog, table: Table, new_name: str
) -> None:
    inner, outer = f"{new_name}_inner", f"{new_name}_outer"
    make_view(lake, inner, f"SELECT return_id FROM lake.{new_name}", {"return_id": "long"})
    make_view(lake, outer, f"SELECT return_id FROM lake.{inner}", {"return_id": "long"})
    sql = f"SELECT count(*) FROM lake.{outer}"
    assert [reused(gateway, sql) is None for _ in range(2)] == [True, False]
    table.append(returns_row(2))
    assert ask(gateway, sql, **REUSE)["result"]["rows"] == [[2]]
    assert reused(gateway, sql) is not None
    text = f"SELECT return_id FROM lake.{new_name} WHERE return_id = 1"
    make_view(lake, inner, text, {"return_id": "long"}, is_new=False)
    answer = ask(gateway, sql, **REUSE)
    assert (answer["reused"], answer["result"]["rows"]) == (None, [[1]])
    assert reused(gateway, sql) is not None
    make_view(lake, inner, f"{text} AND rand() >= 0", {"return_id": "long"}, is_new=False)
    assert [reused(gateway, sql) for _ in range(2)] == [None, None]
    make_view(lake, inner, f"{text} AND DATE'today' > DATE'2020-01-01'", {"return_id": "long"}, is_new=False)
    assert [reused(gateway, sql) for _ in range(2)] == [None, None]


def test_a_pruned_query_is_reused_too(gateway: httpx.Client) -> None:
    sql = (
        "SELECT k.day_name, sum(s.amount) FROM sales s JOIN calendar k ON s.day_key = k.day_key"
        " WHERE k.month = :month GROUP BY 1 ORDER BY 1"
    )
    body = {"parameters": {"month": 2}, **ALWAYS_PRUNED}
    first = ask(gateway, sql, **REUSE, **body)
    assert first["pruning"]["applied"] == 1
    again = ask(gateway, sql, **REUSE, **body)
    assert again["reused"]["from"] == first["queryId"]
    assert again["result"]["rows"] == first["result"]["rows"]
    tables = {scan["table"] for scan in explain(gateway, again["queryId"])["scans"]}
    assert tables == {"lake.shop.sales", "lake.shop.calendar"}
    assert reused(gateway, sql, parameters={"month": 3}, **ALWAYS_PRUNED) is None


def test_limits_and_formats(gateway: httpx.Client, new_name: str) -> None:
    sql = f"SELECT id FROM range(20) ORDER BY id -- {new_name}"
    assert ask(gateway, sql, rowLimit=10, **REUSE)["manifest"]["truncated"]
    assert reused(gateway, sql, rowLimit=10) is None
    whole = ask(gateway, sql, rowLimit=20, **REUSE)
    assert reused(gateway, sql, rowLimit=19) is None
    assert reused(gateway, sql, rowLimit=1_000) is not None
    answer = ask(gateway, sql, format="CSV", **REUSE)
    assert answer["reused"]["from"] == whole["queryId"]
    text = gateway.get(answer["result"]["nextChunkLink"]).text
    assert text.split() == ["id", *map(str, range(20))]


def test_equal_queries_run_once_and_each_can_be_canceled(gateway: httpx.Client, new_name: str) -> None:
    sql = f"{ENDLESS} -- {new_name}"
    first = start(gateway, sql, **REUSE)
    until(lambda: status(gateway, first)["status"]["state"] == "RUNNING")
    others = [start(gateway, sql, **REUSE) for _ in range(2)]
    assert {status(gateway, other)["status"]["state"] for other in others} == {"QUEUED"}
    assert cancel(gateway, others[0])["status"]["state"] == "CANCELED"
    assert status(gateway, first)["status"]["state"] == "RUNNING"
    assert cancel(gateway, first)["status"]["state"] == "CANCELED"
    until(lambda: status(gateway, others[1])["status"]["state"] == "RUNNING")
    assert cancel(gateway, others[1])["status"]["state"] == "CANCELED"


def test_a_burst_runs_once(running: RunningGateway, new_name: str) -> None:
    sql = f"SELECT max(pmod(hash(id), 7)) AS n FROM range(0, 60000000, 1, 1) -- {new_name}"

    def one(_: int) -> JsonObject:
        with running.client_with() as client:
            return ask(client, sql, **REUSE)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(one, range(16)))
    [leader] = {answer["queryId"] for answer in answers if answer["reused"] is None}
    assert {answer["reused"]["from"] for answer in answers if answer["reused"] is not None} == {leader}
    assert {str(answer["result"]["rows"]) for answer in answers} == {"[[6]]"}


def test_every_answer_is_that_of_a_moment_after_its_question(
    running: RunningGateway, table: Table, count: str
) -> None:
    stop, committed = threading.Event(), [1]

    def write() -> None:
        while not stop.wait(0.05):
            table.append(returns_row(committed[0] + 1))
            committed[0] += 1

    def asked(_: int) -> list[tuple[int, int, int, bool]]:
        found = []
        with running.client_with() as client:
            for _ in range(15):
                before = committed[0]
                answer = ask(client, count, **REUSE)
                [[rows, newest]] = answer["result"]["rows"]
                assert rows == newest
                # A commit is visible a moment before its writer knows.
                found.append((before, rows, committed[0] + 1, answer["reused"] is not None))
        return found

    with ThreadPoolExecutor(5) as threads:
        writer = threads.submit(write)
        answers = [answer for some in threads.map(asked, range(4)) for answer in some]
        stop.set()
        writer.result(60)
    assert all(before <= rows <= after for before, rows, after, _ in answers)
    assert committed[0] > 2
    assert sum(is_reused for *_, is_reused in answers) > 0


def test_metrics_count_hits_and_misses(gateway: httpx.Client, count: str) -> None:
    def counted(outcome: str) -> float:
        lines = gateway.get("/metrics").text.splitlines()
        [line] = [
            line for line in lines if line.startswith(f'sluice_result_reuse_total{{outcome="{outcome}"')
        ]
        return float(line.split()[-1])

    hits, misses = counted("HIT"), counted("NO_RESULT")
    ask(gateway, count, **REUSE)
    ask(gateway, count, **REUSE)
    assert (counted("HIT") - hits, counted("NO_RESULT") - misses) == (1, 1)
    text = gateway.get("/metrics").text
    assert 'sluice_cache_entries{cache="reusable_results"}' in text


def test_the_list_and_the_age(gateway: httpx.Client, count: str) -> None:
    ask(gateway, count, **REUSE)
    first, second = reused(gateway, count), reused(gateway, count)
    assert first is not None
    assert second is not None
    assert timedelta(milliseconds=first["ageMs"]) <= timedelta(milliseconds=second["ageMs"])
