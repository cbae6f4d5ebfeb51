"""Walks through the rooms of the console as a user does, in a real browser at a real gateway."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from tests.console.browsers import PHONE, Watched, violations
from tests.console.conftest import ADMIN, LoggedIn, MakeKey, picture
from tests.console.tables import DAYS, HOSTILE, HOSTILE_SCHEMA, HOSTILE_TABLE, SALES_A_DAY
from tests.integration.running import ENDLESS, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

JOINED = """SELECT d.month, d.day_name, count(*) AS sales, sum(s.amount) AS amount
FROM sales AS s
JOIN calendar AS d ON s.day_key = d.day_key
WHERE d.month = :month AND d.day_name IN ('Saturday', 'Sunday')
GROUP BY d.month, d.day_name
ORDER BY amount DESC"""
BY_MONTH = """SELECT d.month, count(*) AS sales, sum(s.amount) AS amount
FROM sales AS s
JOIN calendar AS d ON s.day_key = d.day_key
GROUP BY d.month
ORDER BY d.month"""
MONTH_DAYS_AT_WEEKENDS = 8
MOST_LINES_IN_PAGE = 80


def write(page: Any, sql: str) -> None:
    """Replaces the text of the editor, as a user does who pastes."""
    page.get_by_role("textbox", name="SQL").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(sql)


def run(page: Any, sql: str) -> None:
    write(page, sql)
    page.keyboard.press("Control+Enter")


def rows_of(page: Any, sql: str) -> Any:
    run(page, sql)
    grid = page.get_by_role("grid")
    grid.wait_for()
    return grid


def cells(grid: Any) -> list[list[str]]:
    lines = grid.locator(".line")
    return [lines.nth(index).get_by_role("gridcell").all_inner_texts() for index in range(lines.count())]


def take_option(page: Any) -> None:
    """Takes the first name of the list that the editor has opened."""
    # The editor takes no key for a list that it opened less than 75 ms ago.
    page.wait_for_timeout(200)
    page.keyboard.press("Tab")


def test_a_user_logs_in_by_keyboard_and_out_again(
    opened: Callable[..., Watched], make_key: MakeKey, gateway: RunningGateway
) -> None:
    page = opened("/").page
    assert page.url == f"{gateway.url}/console"
    page.get_by_label("API key").wait_for()
    page.keyboard.type(f"sluice_{'0' * 16}_{'A' * 43}")
    page.keyboard.press("Enter")
    assert "There is no such API key" in page.get_by_role("alert").inner_text()
    picture(page, "login")
    page.keyboard.press("Control+a")
    page.keyboard.type(make_key("kim").text)
    page.keyboard.press("Enter")
    page.get_by_role("navigation").wait_for()
    assert page.get_by_text("kim", exact=True).is_visible()
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    page.reload()
    page.get_by_role("button", name="Log out").click()
    page.get_by_label("API key").wait_for()
    assert page.context.cookies() == []
    assert page.evaluate("localStorage.length") == 0
    # The address had the text of the last query.
    assert page.url == f"{gateway.url}/console#/ask"


def test_a_revoked_key_ends_the_session(
    opened: Callable[..., Watched], make_key: MakeKey, gateway: RunningGateway
) -> None:
    page, key = opened("/console").page, make_key("lou")
    page.get_by_label("API key").fill(key.text)
    page.keyboard.press("Enter")
    page.get_by_role("navigation").wait_for()
    with closing(gateway.client_with(ADMIN)) as client:
        assert client.delete(f"/keys/{key.key_id}").status_code == 200
    page.wait_for_timeout(1_500)
    run(page, "SELECT 1")
    page.get_by_label("API key").wait_for()


def test_a_question_is_completed_asked_and_answered(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    write(page, "SELECT * FROM ")
    page.get_by_label("Catalog").select_option("lake")
    page.get_by_label("Schema").select_option("shop")
    page.get_by_role("textbox", name="SQL").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("sal")
    page.get_by_role("option", name="sales").wait_for()
    picture(page, "completion")
    take_option(page)
    page.keyboard.type(" AS s WHERE s.am")
    page.get_by_role("option", name="amount").wait_for()
    page.keyboard.press("Escape")
    write(page, JOINED)
    # The first query of a gateway takes longer than all others.
    page.get_by_label(":month").fill("4")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("grid").wait_for()
    page.get_by_label(":month").fill("2")
    page.get_by_role("textbox", name="SQL").click()
    page.keyboard.press("Control+Enter")
    grid = page.get_by_role("grid")
    grid.get_by_role("gridcell", name="2", exact=True).first.wait_for()
    heads = grid.get_by_role("columnheader").all_inner_texts()
    assert [head.split("\n")[0] for head in heads] == ["month", "day_name", "sales", "amount"]
    shown = cells(grid)
    assert {line[1] for line in shown} == {"Saturday", "Sunday"}
    assert sum(int(line[2]) for line in shown) == MONTH_DAYS_AT_WEEKENDS * SALES_A_DAY
    facts = page.locator(".facts").inner_text()
    assert "2 rows" in facts
    assert re.search(rf"read \d+ of {DAYS + 1} files", facts)
    tables = page.get_by_role("complementary")
    tables.get_by_text("sales", exact=True).click()
    assert tables.get_by_role("button", name="amount").is_visible()
    picture(page, "console-ask")
    write(page, BY_MONTH)
    page.get_by_role("button", name="Run").click()
    grid.get_by_role("gridcell", name="4", exact=True).first.wait_for()
    page.get_by_role("button", name="Chart").click()
    chart = page.get_by_role("region", name="Chart")
    chart.get_by_label("Kind").select_option("Bars")
    chart.get_by_label("Side").select_option("amount")
    chart.get_by_role("img", name="Bar chart of amount by month: 4 rows").wait_for()
    picture(page, "console-chart")


def test_functions_are_completed_with_their_parentheses(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    write(page, "SELECT ")
    page.keyboard.type("percentile_ap")
    page.get_by_role("option", name="percentile_approx").wait_for()
    take_option(page)
    page.keyboard.type("1")
    assert page.get_by_role("textbox", name="SQL").inner_text() == "SELECT percentile_approx(1)"


def test_a_text_is_laid_out_and_that_can_be_undone(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    write(page, "SELECT 'a  FROM' AS x FROM sales WHERE sale_id = 1 AND note IS NULL")
    lines = page.locator(".cm-line")
    page.keyboard.press("Shift+Alt+F")
    laid_out = ["SELECT 'a  FROM' AS x", "FROM sales", "WHERE sale_id = 1", "  AND note IS NULL"]
    assert lines.all_inner_texts() == laid_out
    page.keyboard.press("Control+z")
    assert lines.count() == 1
    page.get_by_role("button", name="Format").click()
    assert lines.all_inner_texts() == laid_out


def test_a_null_is_not_empty_and_loaded_rows_are_sorted_in_place(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    grid = rows_of(page, "SELECT sale_id, amount, note FROM sales WHERE sale_id < 12 ORDER BY sale_id")
    notes = [line[2] for line in cells(grid)]
    assert notes[:3] == ["NULL", "", "note 2"]
    assert grid.locator(".null").count() == 4
    amount = grid.get_by_role("columnheader").nth(1)
    amount.get_by_role("button").click()
    assert amount.get_attribute("aria-sort") == "ascending"
    amounts = [float(line[1]) for line in cells(grid)]
    assert amounts == sorted(amounts)
    amount.get_by_role("button").click()
    assert [float(line[1]) for line in cells(grid)] == sorted(amounts, reverse=True)


def test_long_numbers_keep_all_their_digits(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    long, wide = "9223372036854775807", "12345678901234567890123456.789"
    values = f"{long}, -{long}, CAST('{wide}' AS DECIMAL(38, 3)), '{{\"a\": {long}}}'"
    grid = rows_of(page, f"SELECT {values}, array({long})")
    assert cells(grid) == [[long, f"-{long}", wide, f'{{"a": {long}}}', f"[{long}]"]]


def test_of_many_rows_only_those_that_are_seen_are_in_the_page(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    grid = rows_of(page, "SELECT id, id * 2 AS twice FROM range(8000)")
    grid.focus()
    page.keyboard.press("Control+End")
    page.get_by_role("gridcell", name="7999", exact=True).wait_for()
    assert grid.locator(".line").count() < MOST_LINES_IN_PAGE
    page.keyboard.press("Control+Home")
    page.get_by_role("gridcell", name="0", exact=True).first.wait_for()
    page.get_by_text("Download").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="CSV").click()
    lines = started.value.path().read_text().splitlines()
    assert (len(lines), lines[0], lines[-1]) == (8001, "id,twice", "7999,15998")


def test_an_error_is_marked_where_it_is(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    run(page, "SELECT sale_id,\n  amuont\nFROM sales")
    problem = page.get_by_role("alert")
    problem.wait_for()
    assert "amuont" in problem.inner_text()
    assert page.locator(".cm-lintRange-error").all_inner_texts() == ["amuont"]
    picture(page, "error")
    run(page, "SELECT sale_id FROM sales LIMIT 1")
    page.get_by_role("grid").wait_for()
    assert page.locator(".cm-lintRange-error").count() == 0


def test_a_query_is_followed_and_canceled(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    run(page, ENDLESS)
    page.get_by_text("Running").wait_for()
    page.get_by_role("link", name="Explain", exact=True).last.wait_for()
    picture(page, "running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The query was canceled.").wait_for()
    assert page.locator(".past .state").first.inner_text() == "canceled"


def test_a_question_can_be_opened_again_by_its_address_and_from_the_history(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    rows_of(page, "SELECT 41 + 1 AS answer")
    address = page.url
    rows_of(page, "SELECT 2 AS another")
    page.goto("about:blank")
    page.goto(address)
    editor = page.get_by_role("textbox", name="SQL")
    assert editor.inner_text() == "SELECT 41 + 1 AS answer"
    page.get_by_role("button", name="SELECT 2 AS another").click()
    assert editor.inner_text() == "SELECT 2 AS another"


def test_an_explanation_shows_what_was_read_and_why(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    page.get_by_label("Schema").wait_for()
    write(page, JOINED)
    page.get_by_label(":month").fill("3")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("grid").wait_for()
    page.get_by_label("Result").get_by_role("link", name="Explain").click()
    page.get_by_role("heading", name="What was read").wait_for()
    sales = page.locator(".scan", has_text="shop.sales").first
    read = re.search(rf"Files\s+(\d+) of {DAYS}", sales.inner_text())
    assert read is not None
    assert int(read[1]) < DAYS
    applied = page.locator(".filter.applied").first.inner_text()
    assert "The filter pruned the scan." in applied
    assert "Left out" in applied
    assert page.locator(".plan .node").count() > 3
    assert page.get_by_text("together").first.is_visible()
    picture(page, "console-explain")
    page.get_by_role("link", name="Explain", exact=True).click()
    page.get_by_role("heading", name="Your newest queries").wait_for()


def test_an_explanation_is_live_until_the_query_ends(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    run(page, ENDLESS)
    page.get_by_text("Running").wait_for()
    page.locator(".controls").get_by_role("link", name="Explain").click()
    page.get_by_role("progressbar").wait_for()
    query_id = page.url.rsplit("/", 1)[1]
    page.evaluate(
        "id => fetch('/query/' + id, {method: 'DELETE', headers: {'X-Sluice-Console': '1'}})", query_id
    )
    page.locator(".head .state.CANCELED").wait_for()


def test_hostile_names_values_and_errors_stay_text(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    quoted = f"{HOSTILE_SCHEMA}`.`{HOSTILE_TABLE}"
    grid = rows_of(page, f"SELECT `{HOSTILE}`, '{HOSTILE}' AS `<script>hacked=1</script>` FROM `{quoted}`")
    assert cells(grid)[0][0] == HOSTILE
    assert HOSTILE in grid.get_by_role("columnheader").first.inner_text()
    page.get_by_label("Result").get_by_role("link", name="Explain").click()
    page.get_by_role("heading", name="What was read").wait_for()
    assert HOSTILE_TABLE in page.locator(".scan h3").first.inner_text()
    page.go_back()
    page.get_by_label("Catalog").select_option("lake")
    page.get_by_label("Schema").select_option(HOSTILE_SCHEMA)
    page.get_by_role("complementary").get_by_text(HOSTILE_TABLE).click()
    page.get_by_role("button", name="Show some rows").click()
    page.get_by_role("gridcell", name="NULL", exact=True).first.wait_for()
    assert [line[0] for line in cells(grid)] == [
        HOSTILE,
        "</td><script>hacked=1</script>",
        "NULL",
        "",
        "NULL",
    ]
    run(page, f"SELECT * FROM `{HOSTILE}`")
    assert HOSTILE in page.get_by_role("alert").inner_text()
    page.goto(f"/console#/explain/{HOSTILE}")
    page.get_by_role("alert").wait_for()
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_everyone_can_use_it(
    opened: Callable[..., Watched], make_key: MakeKey, scheme: str, size: str
) -> None:
    options: dict[str, Any] = {"color_scheme": scheme, "reduced_motion": "reduce"}
    options |= {"viewport": PHONE} if size == "phone" else {}
    page = opened("/console", **options).page
    page.get_by_label("API key").wait_for()
    assert violations(page) == []
    page.get_by_label("API key").fill(make_key("kim").text)
    page.keyboard.press("Enter")
    page.get_by_role("navigation").wait_for()
    write(page, JOINED)
    page.get_by_label(":month").fill("1")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("grid").wait_for()
    picture(page, f"ask-{size}-{scheme}")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Result").get_by_role("link", name="Explain").click()
    page.get_by_role("heading", name="What was read").wait_for()
    until(lambda: page.locator(".filter").count() > 0)
    picture(page, f"explain-{size}-{scheme}")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto("/console#/explain")
    page.get_by_role("heading", name="Your newest queries").wait_for()
    assert violations(page) == []
