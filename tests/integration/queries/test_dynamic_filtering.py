"""Dynamic filtering over HTTP: same rows, fewer files, and an explanation of which and why."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import JsonObject, ask, explain
from tests.integration.lakehouse import (
    BY_DAY,
    DAYS,
    DAYS_PER_MONTH,
    FIRST_DAY,
    SALES,
    files_of,
    make,
    sales_on,
)

pytestmark = pytest.mark.integration

STAR = (
    "SELECT month, count(*) AS sales, sum(amount) AS amount FROM {fact} AS f "
    "JOIN calendar AS c ON f.day_key = c.day_key WHERE month = {month} GROUP BY month"
)
ALWAYS = {"dynamicFiltering": {"minTableBytes": 0}}
NEVER = {"dynamicFiltering": {"enabled": False}}


def star(month: int, fact: str = "sales") -> str:
    return STAR.format(fact=fact, month=month)


def applied(explanation: JsonObject) -> list[JsonObject]:
    return [filter_ for filter_ in explanation["filters"] if filter_["applied"]]


def reasons(explanation: JsonObject) -> dict[str, str]:
    """Returns the reason of each table's last candidate, by table name."""
    return {filter_["probe"]["table"].split(".")[-1]: filter_["reason"] for filter_ in explanation["filters"]}


def scan_of(explanation: JsonObject, table: str) -> JsonObject:
    [found] = [scan for scan in explanation["scans"] if scan["table"] == table]
    scan: JsonObject = found
    return scan


def answered(gateway: httpx.Client, sql: str, **body: Any) -> tuple[JsonObject, JsonObject]:
    """Returns the answer and its explanation."""
    answer = ask(gateway, sql, **body)
    return answer, explain(gateway, answer["queryId"])


def test_a_filter_selects_the_files_that_a_literal_predicate_selects(
    gateway: httpx.Client, lake: SqlCatalog
) -> None:
    plain = ask(gateway, star(3), **NEVER)
    pruned, explanation = answered(gateway, star(3), **ALWAYS)

    assert pruned["result"]["rows"] == plain["result"]["rows"]
    [found] = applied(explanation)
    assert (found["probe"]["table"], found["probe"]["columns"]) == ("lake.shop.sales", ["day_key"])
    assert (found["build"]["tables"], found["build"]["predicate"]) == (["lake.shop.calendar"], "month = 3")
    assert (found["form"], found["values"]) == ("RANGES", DAYS_PER_MONTH)
    first = FIRST_DAY + 2 * DAYS_PER_MONTH
    assert found["ranges"] == [[first, first + DAYS_PER_MONTH - 1]]
    days = {f"day_key={day}" for day in range(first, first + DAYS_PER_MONTH)}
    wanted = files_of(lake.load_table("shop.sales"), lambda path: path.parent.name in days)
    scan = scan_of(explanation, "lake.shop.sales")
    assert scan["dataFiles"] == {"total": DAYS, "selected": len(wanted)}
    assert scan["bytes"]["selected"] == sum(data_file.size for data_file in wanted)


def test_files_that_must_be_pruned_may_be_gone(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str
) -> None:
    table = make(lake, new_name, SALES, BY_DAY)
    table.append(lake.load_table("shop.sales").scan().to_arrow())
    first = FIRST_DAY + DAYS_PER_MONTH
    folders = {f"day_key={day}" for day in range(first, first + DAYS_PER_MONTH)}
    for file in files_of(table):
        if Path(file.path).parent.name not in folders:
            shutil.rmtree(Path(file.path).parent)

    answer, explanation = answered(gateway, star(2, new_name), **ALWAYS)

    sales = sum(sales_on(day) for day in range(DAYS_PER_MONTH, 2 * DAYS_PER_MONTH))
    assert answer["result"]["rows"] == [[2, sales, f"{sales * 1.25:.2f}"]]
    table_name = new_name.split(".")[1]
    assert reasons(explanation) == {table_name: "APPLIED", "calendar": "PROBE_NOT_PRUNABLE"}


def test_another_query_with_the_same_build_side_finds_its_keys(gateway: httpx.Client) -> None:
    ask(gateway, star(4), **ALWAYS)
    other = "SELECT sum(s.amount) FROM calendar d, sales s WHERE d.month = 4 AND s.day_key = d.day_key"
    answer, explanation = answered(gateway, other, **ALWAYS)

    [found] = applied(explanation)
    assert found["source"] == "CACHED"
    assert (answer["pruning"]["filters"], answer["pruning"]["applied"], answer["pruning"]["cached"]) == (
        1,
        1,
        1,
    )


def test_a_build_side_without_keys_leaves_nothing_to_read(gateway: httpx.Client) -> None:
    answer, explanation = answered(gateway, star(13), **ALWAYS)

    assert answer["result"]["rows"] == []
    [found] = applied(explanation)
    assert (found["form"], found["values"]) == ("EMPTY", 0)
    assert scan_of(explanation, "lake.shop.sales")["dataFiles"] == {"total": DAYS, "selected": 0}


def test_what_sets_of_keys_skip_together_is_reported_as_nothing_of_its_total(gateway: httpx.Client) -> None:
    both = (
        "SELECT count(*) FROM sales f JOIN calendar a ON f.day_key = a.day_key "
        "JOIN calendar b ON f.day_key = b.day_key WHERE a.month = 1 AND b.month = 3"
    )
    answer, explanation = answered(gateway, both, **ALWAYS)
    assert answer["result"]["rows"] == [[0]]
    assert scan_of(explanation, "lake.shop.sales")["dataFiles"] == {"total": DAYS, "selected": 0}


def test_a_commit_to_the_dimension_is_seen_by_the_next_query(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str
) -> None:
    calendar = lake.load_table("shop.calendar")
    dimension = make(lake, new_name, calendar.schema())
    days = calendar.scan().to_arrow()
    dimension.append(days.filter([value == 1 for value in days["month"].to_pylist()]))
    sql = f"SELECT count(*) FROM sales AS f JOIN {new_name} AS c ON f.day_key = c.day_key WHERE month < 3"
    before = ask(gateway, sql, **ALWAYS)["result"]["rows"]
    dimension.append(days.filter([value == 2 for value in days["month"].to_pylist()]))
    after, explanation = answered(gateway, sql, **ALWAYS)

    assert before == [[sum(sales_on(day) for day in range(DAYS_PER_MONTH))]]
    assert after["result"]["rows"] == [[sum(sales_on(day) for day in range(2 * DAYS_PER_MONTH))]]
    assert applied(explanation)[0]["source"] == "CARRIED_OVER"


def test_parameters_are_bound_in_the_collection_too(gateway: httpx.Client) -> None:
    sql = STAR.format(fact="sales", month=":month")
    found = [
        answered(gateway, sql, parameters={"month": month}, **ALWAYS)[1]["filters"][0]["ranges"]
        for month in (1, 2)
    ]
    assert found[0] == [[FIRST_DAY, FIRST_DAY + DAYS_PER_MONTH - 1]]
    assert found[1] == [[FIRST_DAY + DAYS_PER_MONTH, FIRST_DAY + 2 * DAYS_PER_MONTH - 1]]


def test_a_preserved_side_is_not_pruned_and_the_explanation_says_so(gateway: httpx.Client) -> None:
    sql = "SELECT count(*) FROM sales f LEFT JOIN calendar c ON f.day_key = c.day_key AND c.month = 2"
    answer, explanation = answered(gateway, sql, **ALWAYS)

    assert answer["result"]["rows"] == [[sum(sales_on(day) for day in range(DAYS))]]
    assert reasons(explanation)["sales"] == "PROBE_IS_PRESERVED_SIDE"
    assert "WHERE" not in (explanation["rewrittenSql"] or "")


def test_a_verified_query_answers_the_same(gateway: httpx.Client) -> None:
    plain = ask(gateway, star(2), **NEVER)
    verified, explanation = answered(gateway, star(2), dynamicFiltering={"minTableBytes": 0, "verify": True})

    assert verified["result"]["rows"] == plain["result"]["rows"]
    assert applied(explanation)
    assert explanation["verification"] == "SAME"


def test_a_column_of_the_files_themselves_runs_as_it_is_written(gateway: httpx.Client) -> None:
    sql = "SELECT count(f._file) FROM sales f JOIN calendar c ON f.day_key = c.day_key WHERE c.month = 2"
    answer, explanation = answered(gateway, sql, **ALWAYS)

    sales = sum(sales_on(day) for day in range(DAYS_PER_MONTH, 2 * DAYS_PER_MONTH))
    assert answer["result"]["rows"] == [[sales]]
    assert explanation["rewrittenSql"] is None
    assert reasons(explanation)["sales"] == "REWRITE_REJECTED"


def test_small_tables_are_left_alone_unless_the_query_says_otherwise(gateway: httpx.Client) -> None:
    _, explanation = answered(gateway, star(2))

    assert reasons(explanation)["sales"] == "NOT_WORTH_COLLECTING"


@pytest.mark.parametrize(
    ("sql", "body", "expected"),
    [
        (star(2), NEVER, "DISABLED"),
        ("SELECT count(*) FROM sales WHERE amount > 1", {}, "NO_EQUI_JOIN"),
        ("SELECT count(*) FROM sales f JOIN calendar c ON f.day_key < c.day_key", {}, "NO_EQUI_JOIN"),
        ("FROM sales |> WHERE amount > 1 |> AGGREGATE count(*)", {}, "NOT_A_QUERY"),
        ("SELECT count(*) FROM sales WHERE day_key NOT IN (SELECT day_key FROM calendar)", {}, "ANTI_JOIN"),
        ("SELECT count(*) FROM sales f JOIN calendar c ON f.amount = c.day_key", {}, "PROBE_NOT_PRUNABLE"),
    ],
)
def test_every_table_that_was_read_has_a_reason(
    gateway: httpx.Client, sql: str, body: JsonObject, expected: str
) -> None:
    answer, explanation = answered(gateway, sql, **body)

    assert reasons(explanation)["sales"] == expected
    assert {scan["table"].split(".")[-1] for scan in explanation["scans"]} <= set(reasons(explanation))
    assert answer["pruning"]["applied"] == 0
    for accept in ("text/plain", "text/html"):
        path, headers = f"/explain/{answer['queryId']}", {"Accept": accept}
        assert expected in gateway.get(path, headers=headers).text


def test_a_query_may_be_pruned_by_other_bounds_than_the_operators(gateway: httpx.Client) -> None:
    lists = {"minTableBytes": 0, "rewrites": []}
    months = star(2).replace("month = 2", "month IN (2, 4)")
    answer, by_lists = answered(gateway, months, dynamicFiltering=lists)
    _, by_ranges = answered(gateway, months, dynamicFiltering=lists | {"maxInList": 0, "maxRanges": 1})
    _, too_large = answered(gateway, months, dynamicFiltering=lists | {"maxFilterBytes": 1})

    plain = ask(gateway, months, **NEVER)
    assert sorted(answer["result"]["rows"]) == sorted(plain["result"]["rows"])
    assert [len(applied(record)[0]["ranges"]) for record in (by_ranges, too_large)] == [1, 2]
    assert [applied(record)[0]["exceedsThreshold"] for record in (by_lists, too_large)] == [False, True]
    assert by_lists["rewrites"] == []


def test_the_explanation_for_people_shows_the_collector_below_the_pruned_scan(
    gateway: httpx.Client,
) -> None:
    answer = ask(gateway, star(2), **ALWAYS)

    text = gateway.get(answer["links"]["explain"], headers={"Accept": "text/plain"}).text
    parts = ("Abstract Syntax Tree", "Optimized Physical Plan", "Optimized Execution Plan", "Pruning")
    positions = [text.index(f"== {part} ==") for part in parts]
    assert positions == sorted(positions)
    assert text.index("DynamicFilteringTableSourceScan") < text.index("DynamicFilteringDataCollector")
    assert f"{DAYS_PER_MONTH} of {DAYS}" in text


def test_the_explanation_as_a_page_stands_on_its_own(gateway: httpx.Client) -> None:
    answer = ask(
        gateway,
        "SELECT '<script>alert(1)</script>' AS x, " + star(2)[7:].replace("month,", "month, ", 1),
        **ALWAYS,
    )

    page = gateway.get(answer["links"]["explain"], headers={"Accept": "text/html"})
    assert page.headers["Content-Type"].startswith("text/html")
    assert "<svg" in page.text
    assert "<script" not in page.text


@pytest.mark.parametrize("spelling", ["{name} VERSION AS OF {id} AS f", "lake.{name}.tag_first AS f"])
def test_a_version_of_a_table_is_pruned_and_explained_by_its_snapshot(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str, spelling: str
) -> None:
    table = make(lake, new_name, SALES, BY_DAY)
    rows = lake.load_table("shop.sales").scan().to_arrow()
    table.append(rows)
    first = table.metadata.current_snapshot_id
    assert first is not None
    table.manage_snapshots().create_tag(first, "first").commit()
    table.append(rows)
    sql = star(3).replace("sales AS f", spelling.format(name=new_name, id=first))
    plain = ask(gateway, sql, **NEVER)
    pruned, explanation = answered(gateway, sql, **ALWAYS)

    assert pruned["result"]["rows"] == plain["result"]["rows"]
    assert len(applied(explanation)) == 1
    scan = scan_of(explanation, f"lake.{new_name}")
    assert scan["snapshotId"] == first
    assert scan["dataFiles"]["total"] == DAYS
    assert scan["dataFiles"]["selected"] == DAYS_PER_MONTH
    assert f"VERSION AS OF {first}" in explanation["rewrittenSql"]
