"""Past queries can be inspected: as a list, as sums, as metrics, and as a page."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.integration.asking import ask, cancel, explain, started
from tests.integration.guarded import Guarded
from tests.integration.running import ENDLESS
from tests.polling import until

pytestmark = pytest.mark.integration

SELF_JOIN = "SELECT count(*) FROM lake.shop.returns a JOIN lake.shop.returns b USING (return_id)"


def listed(client: httpx.Client, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/query", params=asked).raise_for_status().json()["queries"]
    return found


def number(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").raise_for_status().text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def test_a_query_is_listed_while_it_runs_and_afterwards(guarded: Guarded) -> None:
    query_id = started(guarded.alice, ENDLESS)
    [running] = listed(guarded.alice, state="RUNNING")
    assert running["queryId"] == query_id
    assert listed(guarded.bob, state="RUNNING") == []
    cancel(guarded.alice, query_id)
    canceled = until(lambda: [query for query in listed(guarded.alice) if query["queryId"] == query_id])
    assert (canceled[0]["state"], canceled[0]["errorCode"]) == ("CANCELED", "QUERY_CANCELED")


def test_pages_of_recorded_queries_have_no_gap(guarded: Guarded) -> None:
    sent = [ask(guarded.bob, f"SELECT {number}")["queryId"] for number in range(3)]
    until(lambda: {query["queryId"] for query in listed(guarded.bob, limit=1000)} >= set(sent))
    pages: list[str] = []
    token: dict[str, Any] = {}
    for _ in sent:
        page = guarded.bob.get("/query", params={"limit": 1} | token).raise_for_status().json()
        pages += [query["queryId"] for query in page["queries"]]
        token = {"pageToken": page["nextPageToken"]}
    assert pages == sent[::-1]


def test_what_was_read_of_a_table_is_summed(guarded: Guarded) -> None:
    table = "lake.shop.returns"
    before = guarded.alice.get("/pruning/summary", params={"table": table}).raise_for_status().json()
    ask(guarded.alice, f"SELECT * FROM {table}")

    def scans() -> int:
        summary = guarded.alice.get("/pruning/summary", params={"table": table}).raise_for_status().json()
        return sum(table["scans"] for table in summary["tables"])

    until(lambda: scans() == sum(table["scans"] for table in before["tables"]) + 1)


def test_what_scans_were_filtered_by_is_advised_on(guarded: Guarded) -> None:
    table = "lake.shop.returns"
    secret = 98_765_432
    answer = ask(guarded.alice, f"SELECT * FROM {table} WHERE return_id IN (1, {secret})")

    def sought() -> list[str]:
        found = guarded.alice.get(f"/advice/{table}").raise_for_status()
        assert str(secret) not in found.text
        return [each["column"] for each in found.json()["workload"]["columns"] if each["equalityScans"]]

    until(lambda: "return_id" in sought())
    scans = explain(guarded.alice, answer["queryId"])["scans"]
    assert scans
    assert str(secret) not in str(scans)
    gone = guarded.alice.get("/advice/lake.shop.gone")
    assert gone.headers["Content-Type"] == "application/problem+json"
    assert (gone.status_code, gone.json()["code"]) == (404, "TABLE_NOT_FOUND")


def test_numbers_grow_with_each_query_and_need_a_token(guarded: Guarded) -> None:
    name = 'sluice_queries_total{caller_class="authenticated",state="SUCCEEDED"}'
    before = number(guarded.alice, name)
    ask(guarded.alice, "SELECT 1")
    until(lambda: number(guarded.alice, name) > before)
    assert httpx.get(guarded.alice.base_url.join("/metrics")).status_code == 401


def test_a_query_that_ran_has_its_plans_and_its_page(guarded: Guarded) -> None:
    answer = ask(guarded.alice, SELF_JOIN)
    plans = explain(guarded.alice, answer["queryId"])["plans"]
    assert "LogicalTableScan(table=[[lake, shop, returns]])" in plans["ast"]
    assert "HashJoin(joinType=[InnerJoin], where=[return_id = return_id])" in plans["execution"]
    page = guarded.alice.get(answer["links"]["explain"], headers={"Accept": "text/html"})
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "lake.shop.returns" in page.text
