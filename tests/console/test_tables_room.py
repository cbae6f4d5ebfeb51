"""Walks through the room of tables: what a table is, and what is refused or down."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pytest

from tests.console.conftest import OPERATOR, LoggedIn, MakeKey, fits_everyone, picture
from tests.console.tables import CLICK_FILES, DAYS, HOSTILE, HOSTILE_SCHEMA, HOSTILE_TABLE, SALES_A_DAY
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

SALES = "/console#/tables?table=lake.shop.sales"
CLICKS = "/console#/tables?table=lake.shop.clicks"
CALENDAR = "/console#/tables?table=lake.shop.calendar"
LOOK_MS = 120_000


def lines(page: Any, label: str) -> list[list[str]]:
    """Returns the texts of a table's cells, once it is there."""
    region = page.get_by_role("region", name=label, exact=True)
    region.wait_for(timeout=LOOK_MS)
    rows = region.locator("tbody tr")
    return [rows.nth(index).locator("td").all_inner_texts() for index in range(rows.count())]


def test_a_table_is_found_and_described_by_its_files(logged_in: LoggedIn) -> None:
    page = logged_in("/console#/tables")
    page.get_by_label("Catalog").select_option("lake")
    page.get_by_label("Schema").select_option("shop")
    page.get_by_role("link", name="sales", exact=True).click()
    page.get_by_role("heading", name="lake.shop.sales").wait_for()
    rows = DAYS * SALES_A_DAY
    assert f"{rows:,} rows" in page.locator(".facts").first.inner_text()
    columns = lines(page, "Columns")
    assert [line[:2] for line in columns][:2] == [["sale_id", "long"], ["day_key", "int"]]
    assert columns[1][2] == "partitions"
    pruning = page.locator(".card", has=page.get_by_role("heading", name="Pruning"))
    pruning.get_by_text(re.compile(r"No query has read it|of \d+ possible filter")).first.wait_for()
    page.get_by_role("button", name="Look at the files' bounds").click()
    bounds = lines(page, "Bounds and null values")
    assert bounds[0] == ["sale_id", "0", "0", str(rows - 1)]
    assert bounds[3][:3] == ["note", f"{rows // 3:,}", "empty text"]
    page.get_by_role("button", name="Look at the partitions").click()
    assert len(lines(page, "Partitions")) == DAYS
    page.get_by_role("button", name="Look at the files", exact=True).click()
    [width] = lines(page, "Columns in the data files")
    assert width[:3] == ["4 of 4", str(DAYS), f"{rows:,}"]
    assert len(lines(page, "Files")) == DAYS
    # Where a test keeps its files says nothing to readers of the documentation.
    page.evaluate("document.querySelector('.location').remove(); scrollTo(0, 0)")
    picture(page, "console-tables")


def test_snapshots_have_their_branches_and_tags(logged_in: LoggedIn) -> None:
    page = logged_in(CALENDAR)
    snapshots = page.locator(".card", has=page.get_by_role("heading", name="Snapshots"))
    snapshots.wait_for()
    assert page.get_by_text("the days of sales").is_visible()
    assert sorted(snapshots.locator(".badge.applied").all_inner_texts()) == ["branch main", "tag first"]
    snapshots.get_by_role("link", name="rows as of then").click()
    page.get_by_role("button", name="Run").click()
    page.get_by_role("grid").wait_for()


def test_maintenance_is_offered_to_who_may_ask_for_it(logged_in: LoggedIn) -> None:
    page = logged_in(CALENDAR)
    page.get_by_text("You may not ask for maintenance of this table.").wait_for()
    assert page.get_by_role("button", name="Run", exact=True).count() == 0
    page = logged_in(CALENDAR, name="olga", roles=OPERATOR)
    page.get_by_label("expire").check()
    # The page asks before it removes snapshots, and the second half of a double click does not answer it.
    page.get_by_role("button", name="Run compact, expire").dblclick()
    page.get_by_role("button", name="Run: sure? compact, expire").wait_for()
    assert page.get_by_text("There was none yet.").is_visible()
    page.get_by_label("expire").uncheck()
    page.get_by_role("button", name="Run", exact=True).click()
    [line] = lines(page, "Maintenance so far")
    assert line[2:5] == ["compact", "main", "olga"]
    page.get_by_role("region", name="Maintenance so far").locator(".state.SUCCEEDED").wait_for(
        timeout=LOOK_MS
    )


def test_advice_has_its_gain_and_is_followed_by_who_may(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    with closing(gateway.client_with(make_key("kim").text)) as client:
        body = {"sql": "SELECT max(page) FROM lake.shop.clicks", "waitTimeout": "50s"}
        assert client.post("/query", json=body).json()["status"]["state"] == "SUCCEEDED"
        # The record of a query comes some moments after its answer.
        until(lambda: client.get("/advice/lake.shop.clicks").json()["advice"])
    page = logged_in(CLICKS)
    page.get_by_role("button", name="Find advice").click()
    advice = page.get_by_role("list", name="Advice").get_by_role("listitem")
    advice.get_by_role("heading", name="Put small files together").wait_for(timeout=LOOK_MS)
    assert re.search(rf"1 instead of {CLICK_FILES} files, 83 % less", advice.inner_text())
    advice.get_by_text("Statements of Spark SQL").click()
    assert "CALL `lake`.system.rewrite_data_files" in advice.locator("pre").inner_text()
    picture(page, "console-advice")
    fits_everyone(page, "tables-advice")
    assert page.get_by_role("button", name="Compact now").count() == 0
    page = logged_in(CLICKS, name="olga", roles=OPERATOR)
    page.get_by_role("button", name="Find advice").click()
    page.get_by_role("button", name="Compact now").click(timeout=LOOK_MS)
    page.get_by_role("region", name="Maintenance so far").locator(".state.SUCCEEDED").wait_for(
        timeout=LOOK_MS
    )
    page.get_by_role("button", name="Look at the files", exact=True).click()
    assert len(lines(page, "Files")) == 1


def test_without_catalogs_the_room_says_why_it_has_nothing_to_choose(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    page.route("**/catalogs", lambda route: route.abort())
    page.goto("/console#/tables")
    page.get_by_role("alert").get_by_text("UNREACHABLE").wait_for(timeout=5_000)
    page.unroute("**/catalogs")
    page.get_by_role("button", name="Try again").click()
    page.get_by_label("Catalog").select_option("lake")
    assert page.get_by_role("alert").count() == 0


def test_a_part_that_is_down_says_so_and_is_tried_again(logged_in: LoggedIn) -> None:
    page = logged_in("/console#/tables")
    page.route("**/tables/lake.shop.sales", lambda route: route.abort())
    page.goto(SALES)
    page.get_by_role("alert").get_by_text("UNREACHABLE").wait_for()
    page.unroute("**/tables/lake.shop.sales")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("region", name="Columns", exact=True).wait_for()
    page.goto("/console#/tables?table=lake.shop.no_such_table")
    page.get_by_role("alert").get_by_text("TABLE_NOT_FOUND").wait_for()


def test_a_hidden_page_asks_nothing(logged_in: LoggedIn) -> None:
    page = logged_in(SALES)
    page.get_by_role("heading", name="Maintenance").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(6_000)
    assert any("maintenance" in url for url in asked)
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    page.wait_for_timeout(1_000)
    asked.clear()
    page.wait_for_timeout(7_000)
    assert asked == []
    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(500)
    assert any("maintenance" in url for url in asked)


def test_hostile_names_and_bounds_stay_text(logged_in: LoggedIn) -> None:
    name = f"lake.{HOSTILE_SCHEMA}.{HOSTILE_TABLE}"
    page = logged_in(f"/console#/tables?table={quote(name)}")
    assert lines(page, "Columns")[0][0] == HOSTILE
    assert page.get_by_role("heading", level=1).inner_text() == name
    page.get_by_role("button", name="Look at the files' bounds").click()
    assert lines(page, "Bounds and null values")[0][:2] == [HOSTILE, "1"]
    page.get_by_role("button", name="Look at the files", exact=True).click()
    assert len(lines(page, "Files")) == 1
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("img").count() == 0


def test_everyone_can_use_it(logged_in: LoggedIn) -> None:
    page = logged_in(SALES)
    lines(page, "Columns")
    page.get_by_role("button", name="Look at the files", exact=True).click()
    lines(page, "Files")
    fits_everyone(page, "tables")
