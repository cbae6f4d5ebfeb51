"""POST /explain reports what a query would read, before anything runs."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import JsonObject, ask, explain, problem
from tests.integration.lakehouse import DAYS, DAYS_PER_MONTH
from tests.integration.queries.test_dynamic_filtering import ALWAYS, NEVER, applied, scan_of, star
from tests.polling import until

READ_OPTIONS = re.compile(r" WITH \(`[^)]*\)")

pytestmark = pytest.mark.integration


def planned(client: httpx.Client, sql: str, **body: Any) -> JsonObject:
    response = client.post("/explain", json={"sql": sql} | body)
    assert response.status_code == 200, response.text
    found: JsonObject = response.json()
    return found


def test_a_plan_selects_what_the_run_after_it_reads(gateway: httpx.Client) -> None:
    gateway.delete("/filters")
    plan = planned(gateway, star(2), **ALWAYS)
    run = explain(gateway, ask(gateway, star(2), **ALWAYS)["queryId"])

    assert (plan["queryId"], plan["state"]) == (None, "PLANNED")
    assert [applied_filter["source"] for applied_filter in applied(plan)] == ["COLLECTED"]
    assert [applied_filter["source"] for applied_filter in applied(run)] == ["CACHED"]
    # The values of files may only be known by the second query, and the read options depend on them.
    assert READ_OPTIONS.sub("", plan["rewrittenSql"]) == READ_OPTIONS.sub("", run["rewrittenSql"])
    from_cache = run["plans"]["optimizedPhysical"].replace(", source=[CACHED]", "")
    assert plan["plans"]["optimizedPhysical"] == from_cache
    would_read, did_read = (scan_of(explanation, "lake.shop.sales") for explanation in (plan, run))
    for level in ("partitions", "manifests", "dataFiles", "bytes"):
        assert would_read[level] == did_read[level]
    assert would_read["dataFiles"] == {"total": DAYS, "selected": DAYS_PER_MONTH}
    assert would_read["rows"] == {"total": did_read["rows"]["total"], "read": None}
    assert plan["timings"]["runMs"] == 0
    assert "== Physical Plan ==" in plan["plans"]["spark"]


def test_a_plan_leaves_no_query_behind(gateway: httpx.Client) -> None:
    last = ask(gateway, "SELECT 1")["queryId"]
    explain(gateway, last)
    planned(gateway, star(1))
    # Queries of other tests may end at this moment, and a record is stored a moment after its query.
    until(lambda: last in _texts(gateway))
    texts = _texts(gateway)
    assert texts[last] == "SELECT 1"
    assert star(1) not in texts.values()


def _texts(gateway: httpx.Client) -> dict[str, str]:
    """Returns the listed queries by their ids."""
    return {query["queryId"]: query["sql"] for query in gateway.get("/query").json()["queries"]}


def test_nothing_runs_for_a_plan(gateway: httpx.Client) -> None:
    plan = planned(
        gateway, "SELECT sale_id / 0, sum(hash(id)) FROM lake.shop.sales, range(1000000000000) GROUP BY 1"
    )
    assert scan_of(plan, "lake.shop.sales")["dataFiles"]["selected"] == DAYS


def test_without_dynamic_filtering_the_text_is_planned_as_it_is(gateway: httpx.Client) -> None:
    plan = planned(gateway, star(2), **NEVER)
    assert ({filter_["reason"] for filter_ in plan["filters"]}, plan["rewrittenSql"]) == ({"DISABLED"}, None)
    assert scan_of(plan, "lake.shop.sales")["dataFiles"] == {"total": DAYS, "selected": DAYS}


def test_an_empty_set_leaves_nothing_to_read(gateway: httpx.Client) -> None:
    plan = planned(gateway, star(13), **ALWAYS)
    assert [applied_filter["form"] for applied_filter in applied(plan)] == ["EMPTY"]
    assert scan_of(plan, "lake.shop.sales")["dataFiles"] == {"total": DAYS, "selected": 0}


def test_parameters_are_bound_in_the_plan(gateway: httpx.Client) -> None:
    sql = star(2).replace("month = 2", "month = :month")
    assert applied(planned(gateway, sql, parameters={"month": 2}, **ALWAYS))
    problem(gateway.post("/explain", json={"sql": sql}), 422, "PARAMETER_MISSING")


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("SELEC 1", 422, "SQL_SYNTAX"),
        ("", 422, "SQL_EMPTY"),
        ("SELECT 1; SELECT 2", 422, "SQL_MANY_STATEMENTS"),
        ("DROP TABLE shop.sales", 403, "STATEMENT_NOT_ALLOWED"),
        ("SHOW TABLES", 403, "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM shop.slaes", 404, "TABLE_NOT_FOUND"),
        ("SELECT salee_id FROM shop.sales", 422, "COLUMN_NOT_FOUND"),
    ],
)
def test_what_cannot_run_is_reported_as_for_a_query(
    gateway: httpx.Client, sql: str, status: int, code: str
) -> None:
    found = problem(gateway.post("/explain", json={"sql": sql}), status, code)
    assert "queryId" not in found
    if code == "TABLE_NOT_FOUND":
        assert found["errors"][0]["nearest"][0] == "lake.shop.sales"


def test_a_plan_is_a_page_and_a_text_too(gateway: httpx.Client, lake: SqlCatalog) -> None:
    body = {"sql": star(2), **ALWAYS}
    page = gateway.post("/explain", json=body, headers={"Accept": "text/html"})
    text = gateway.post("/explain", json=body, headers={"Accept": "text/plain"}).text
    assert "<svg" in page.text
    assert "What would be read" in page.text
    assert f"data files  {DAYS_PER_MONTH} of {DAYS}" in text
    assert str(lake.load_table("shop.sales").metadata.current_snapshot_id) in text
