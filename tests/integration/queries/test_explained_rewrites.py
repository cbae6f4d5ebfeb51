"""The explanation of a query that was rewritten beyond its filters: parts that ran, and removed parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.integration.asking import JsonObject, ask, explain
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import DAYS, DAYS_PER_MONTH, make_star
from tests.integration.queries.test_dynamic_filtering import ALWAYS, NEVER, reasons, scan_of
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

REDUNDANT = (
    "SELECT count(*) AS sales, sum(f.amount) AS amount FROM sales AS f "
    "JOIN calendar AS c ON f.day_key = c.day_key WHERE c.month = 2"
)
# No other query here reads this month, so its keys are not cached.
NAMED = REDUNDANT.replace("SELECT", "SELECT max(c.day_name) AS day_name,").replace("month = 2", "month = 3")
TWICE = (
    "SELECT f.sale_id FROM sales f JOIN calendar c ON f.day_key = c.day_key AND c.month = 2"
    " UNION ALL SELECT f.sale_id FROM sales f JOIN calendar c ON f.day_key = c.day_key AND c.month = 4"
    " AND c.day_name > ''"
)


@pytest.fixture(scope="module")
def rewriting(folder: Path) -> Iterator[httpx.Client]:
    """A gateway with local relations, which are on by default."""
    settings = {
        **PRUNES_THOUGH_BUSY,
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
    }
    gateway = RunningGateway.start(folder / "rewriting", settings)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            make_star(lake)
        yield gateway.client
    finally:
        gateway.stop()


def rewritten(client: httpx.Client, sql: str, kind: str) -> JsonObject:
    """Repeats the query until the rewrite is made, as rows are fetched in the background; explains it."""

    def explained() -> JsonObject | None:
        found = explain(client, ask(client, sql, **ALWAYS)["queryId"])
        return found if kind in [rewrite["rewrite"] for rewrite in found["rewrites"]] else None

    answer = until(explained)
    assert answer is not None
    return answer


def is_nothing_of(scan: JsonObject) -> bool:
    """Returns whether the scan selects nothing of a total above zero, at every level."""
    levels = [scan[name] for name in ("partitions", "manifests", "dataFiles", "bytes")]
    is_nothing = all(level["selected"] == 0 < level["total"] for level in levels)
    return is_nothing and not scan["rows"]["read"] and not scan["hasRun"]


def test_an_eliminated_join_is_in_no_plan_of_what_ran(rewriting: httpx.Client) -> None:
    found = rewritten(rewriting, REDUNDANT, "JOIN_ELIMINATED")
    [eliminated] = [rewrite for rewrite in found["rewrites"] if rewrite["rewrite"] == "JOIN_ELIMINATED"]
    assert (eliminated["table"], eliminated["tableReference"], eliminated["filterId"]) == (
        "lake.shop.calendar",
        2,
        "df1",
    )
    assert "LogicalJoin" in found["plans"]["ast"]
    for plan in (found["plans"]["optimizedPhysical"], found["plans"]["execution"]):
        assert "Join(" not in plan
        assert "Reused" not in plan
        assert "filters=[df1], eliminatedJoins=[lake.shop.calendar])" in plan
        # The table is only below the collector, which shows where the keys came from.
        assert plan.count("lake, shop, calendar") == 1
    assert is_nothing_of(scan_of(found, "lake.shop.calendar"))
    page = rewriting.get(f"/explain/{found['queryId']}", headers={"Accept": "text/html"}).text
    assert "Join</text>" not in page


def test_rows_in_memory_are_reported_as_such(rewriting: httpx.Client) -> None:
    found = rewritten(rewriting, NAMED, "LOCAL_RELATION")
    [relation] = [rewrite for rewrite in found["rewrites"] if rewrite["rewrite"] == "LOCAL_RELATION"]
    rows = f"LocalTableScan(table=[[lake, shop, calendar]], rows=[{relation['detail']}]"
    assert relation["tableReference"] == 2
    # The rows are there for the first query, as they came with the keys.
    [together] = [rewrite for rewrite in found["rewrites"] if rewrite["rewrite"] == "ONE_READING"]
    reported = (together["table"], together["tableReference"], together["filterId"], together["detail"])
    detail = "its rows and the keys of day_key were collected in one reading"
    assert reported == ("lake.shop.calendar", 2, "df1", detail)
    assert f"{rows}, collectedWith=[df1])" in found["plans"]["optimizedPhysical"]
    for plan in (found["plans"]["optimizedPhysical"], found["plans"]["execution"]):
        assert rows in plan
        assert plan.count("lake, shop, calendar") == 2
    assert "LogicalTableScan(table=[[lake, shop, calendar]])" in found["plans"]["ast"]
    assert is_nothing_of(scan_of(found, "lake.shop.calendar"))
    page = rewriting.get(f"/explain/{found['queryId']}", headers={"Accept": "text/html"}).text
    assert "Rows in memory</text>" in page


def test_a_plan_before_the_run_shows_the_same(rewriting: httpx.Client) -> None:
    run = rewritten(rewriting, REDUNDANT, "JOIN_ELIMINATED")
    plan = rewriting.post("/explain", json={"sql": REDUNDANT} | ALWAYS).json()
    assert plan["plans"]["optimizedPhysical"] == run["plans"]["optimizedPhysical"]
    assert is_nothing_of(scan_of(plan, "lake.shop.calendar"))
    assert {scan["native"] for scan in plan["scans"] if scan["hasRun"]} == {None}


def test_two_references_of_one_table_have_each_its_own_filter(rewriting: httpx.Client) -> None:
    found = rewritten(rewriting, TWICE, "JOIN_ELIMINATED")
    probes = {filter_["filterId"]: filter_["probe"] for filter_ in found["filters"] if filter_["applied"]}
    assert {name: (probe["alias"], probe["tableReference"]) for name, probe in probes.items()} == {
        "df1": ("f", 1),
        "df2": ("f", 3),
    }
    lines = [line for line in found["plans"]["optimizedPhysical"].splitlines() if "shop, sales" in line]
    assert [line.count("df1") + 2 * line.count("df2") for line in lines] == [1, 2]


def test_an_empty_set_is_nothing_of_the_total_at_every_level(rewriting: httpx.Client) -> None:
    found = explain(rewriting, ask(rewriting, REDUNDANT.replace("= 2", "= 13"), **ALWAYS)["queryId"])
    scan = scan_of(found, "lake.shop.sales")
    assert is_nothing_of(scan)
    assert (scan["hasRun"], scan["partitions"]["total"], scan["manifests"]["total"]) == (False, DAYS, 4)
    assert "filters=[df1], read=[nothing])" in found["plans"]["optimizedPhysical"]


def test_what_spark_eliminated_on_the_way_is_reported_with_its_reason(rewriting: httpx.Client) -> None:
    sql = "SELECT f.* FROM sales f JOIN calendar c ON f.day_key = c.day_key WHERE c.month * 2 = 26"
    answer = ask(rewriting, sql, **NEVER)
    found = explain(rewriting, answer["queryId"])
    assert answer["result"]["rows"] == []
    assert reasons(found) == {"sales": "DISABLED", "calendar": "DISABLED"}
    calendar, sales = scan_of(found, "lake.shop.calendar"), scan_of(found, "lake.shop.sales")
    assert (calendar["hasRun"], calendar["dataFiles"]) == (True, {"total": 1, "selected": 1})
    assert sales["dataFiles"]["total"] == DAYS
    assert sales["hasRun"] or is_nothing_of(sales)
    assert answer["pruning"]["dataFiles"]["total"] == DAYS + 1
    counted = [
        table for table in rewriting.get("/pruning/summary").json()["tables"] if "sales" in table["table"]
    ]
    assert counted[0]["dataFiles"]["total"] >= DAYS


def test_a_pruned_scan_that_was_not_needed_keeps_its_filter_and_its_total(rewriting: httpx.Client) -> None:
    sql = (
        "SELECT count(*) FROM sales f JOIN calendar c ON f.day_key = c.day_key"
        " JOIN calendar e ON f.amount = e.month * 0.001 WHERE c.month = 2 AND e.month * 2 = 26"
    )
    found = explain(rewriting, ask(rewriting, sql, **ALWAYS)["queryId"])
    assert "df1" in [filter_["filterId"] for filter_ in found["filters"] if filter_["applied"]]
    sales = scan_of(found, "lake.shop.sales")
    assert sales["dataFiles"] == {"total": DAYS, "selected": DAYS_PER_MONTH if sales["hasRun"] else 0}


def test_spark_itself_pruning_a_scan_is_reported(rewriting: httpx.Client) -> None:
    found = explain(rewriting, ask(rewriting, REDUNDANT, **NEVER)["queryId"])
    assert scan_of(found, "lake.shop.sales")["native"] is True
    assert scan_of(found, "lake.shop.calendar")["native"] is False
