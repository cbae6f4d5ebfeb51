"""Walks through the room Explain: live, beside the text as written, and shared."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.console.browsers import PHONE, violations
from tests.console.conftest import LoggedIn, picture
from tests.console.tables import DAYS, HOSTILE, SALES_A_DAY
from tests.console.test_rooms import JOINED, MONTH_DAYS_AT_WEEKENDS, run, write
from tests.polling import until

pytestmark = pytest.mark.integration

# The engine reads all of the sales at once, and is then busy for hours.
READS_AND_GOES_ON = (
    "SELECT sum(hash(r.id, s.sale_id)) AS s FROM sales AS s CROSS JOIN range(0, 1000000000000, 1, 1) AS r"
)
# The engine can read this text, and the gateway has no plan of it to draw.
GOES_ON_WITHOUT_A_PLAN = (
    "FROM sales AS s |> CROSS JOIN range(0, 1000000000000, 1, 1) AS r"
    " |> AGGREGATE sum(hash(r.id, s.sale_id)) AS s"
)
# By this join, Spark alone leaves out nothing: the files are not partitioned by the number of the sale.
BY_NUMBER = """SELECT d.day_name, count(*) AS sales, sum(s.amount) AS amount
FROM sales AS s
JOIN calendar AS d ON s.sale_id = d.day_key
WHERE d.month = :month
GROUP BY d.day_name"""
FILES_BY_NUMBER, ROWS_BY_NUMBER = 2, 2 * SALES_A_DAY
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


def explained(page: Any, sql: str = JOINED) -> str:
    """Asks the query for the second month, opens its explanation, and returns its id."""
    page.get_by_label("Schema").wait_for()
    write(page, sql)
    page.get_by_label(":month").fill("2")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("grid").wait_for()
    page.get_by_label("Result").get_by_role("link", name="Explain").click()
    page.get_by_role("heading", name="What was read").wait_for()
    found: str = page.locator(".head code").inner_text()
    return found


def opened_live(page: Any, sql: str = READS_AND_GOES_ON) -> str:
    """Asks a query without an end, opens its explanation, and returns its id."""
    run(page, sql)
    page.get_by_text("Running").wait_for()
    page.locator(".controls").get_by_role("link", name="Explain").click()
    page.get_by_role("progressbar").wait_for()
    found: str = page.locator(".head code").inner_text()
    return found


def cancel(page: Any, query_id: str) -> None:
    page.evaluate(
        "id => fetch('/query/' + id, {method: 'DELETE', headers: {'X-Sluice-Console': '1'}})", query_id
    )


def paths(page: Any) -> list[str]:
    """Returns the paths that the page asks for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(urlsplit(request.url).path))
    return found


def test_the_plan_is_live_by_events_and_the_last_explanation_loads_by_itself(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    asked = paths(page)
    query_id = opened_live(page)
    try:
        live = page.locator(".plan .node.live")
        live.first.wait_for()
        until(lambda: "6,000 rows" in live.first.inner_html())
        assert "6,000 rows" in page.locator(".outline").inner_html()
        assert re.search(r"6,000\s+so far", page.locator(".scan", has_text="shop.sales").inner_text())
        assert re.search(r"\d+ of \d+ stages", page.locator(".progress").inner_text())
        picture(page, "explain-live")
        assert asked.count(f"/query/{query_id}/events") == 1
        # Once when it was opened, and again when the filters and the plan were known.
        assert asked.count(f"/explain/{query_id}") <= 3
        # Who leaves the page leaves its place at the gateway, and finds the query again.
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/events")):
            page.get_by_role("navigation").get_by_role("link", name="Tables").press("Enter")
        page.go_back()
        live.first.wait_for()
    finally:
        cancel(page, query_id)
    page.locator(".head .state.CANCELED").wait_for()
    page.get_by_role("heading", name="What was read").wait_for()
    assert page.get_by_role("progressbar").count() == 0


def test_where_no_events_come_through_the_state_is_asked_for(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    refusal = {"title": "", "status": 429, "detail": "", "code": "TOO_MANY_EVENT_STREAMS", "errors": []}
    page.route(
        "**/events",
        lambda route: route.fulfill(
            status=429, content_type="application/problem+json", body=json.dumps(refusal)
        ),
    )
    query_id = opened_live(page, GOES_ON_WITHOUT_A_PLAN)
    try:
        page.get_by_text("so the page asks for its state").wait_for()
        # There is no plan to draw, and the reads of the scans are live all the same.
        page.locator(".scan", has_text="shop.sales").get_by_text("6,000 so far").wait_for()
        assert page.get_by_text("not one query that the gateway can read").first.is_visible()
        picture(page, "explain-live-without-plan")
    finally:
        cancel(page, query_id)
    page.get_by_role("heading", name="What was read").wait_for()
    page.locator(".head .state.CANCELED").wait_for()


def test_the_text_as_written_is_planned_and_run_beside_the_query(logged_in: LoggedIn) -> None:
    page = logged_in("/console", roles=("reader",))
    asked = paths(page)
    pruned_id = explained(page, BY_NUMBER)
    card = page.locator(".card", has=page.get_by_role("heading", name="As written, and pruned"))
    card.get_by_label(":month").fill("2")
    card.get_by_role("button", name="Plan as written").click()
    sales = card.get_by_role("region", name="What was read of lake.shop.sales")
    sales.wait_for()
    assert re.search(rf"files\s+{DAYS} of {DAYS}\s+{FILES_BY_NUMBER} of {DAYS}", sales.inner_text())
    assert re.search(r"rows\s+not known", sales.inner_text())
    assert card.locator(".side .plan").count() == 2
    # Nothing has run yet.
    assert "/query" not in asked[asked.index(f"/explain/{pruned_id}") :]
    picture(page, "explain-planned-as-written")
    card.get_by_role("button", name="Run as written").click()
    times = card.get_by_role("region", name="Time of the two queries")
    times.wait_for()
    assert re.search(rf"rows\s+6,000\s+{ROWS_BY_NUMBER}", sales.inner_text())
    address = page.url
    assert re.search(rf"#/explain/{pruned_id}\?with=[0-9a-f-]{{36}}$", address)
    page.goto("about:blank")
    page.goto(address)
    times.wait_for()
    card.get_by_role("link").click()
    page.get_by_text("The query ran as written.").wait_for()
    assert page.locator(".badge").first.inner_text() == "disabled"


def test_a_link_opens_the_explanation_or_the_text_for_others(logged_in: LoggedIn) -> None:
    page = logged_in("/console", name="ada")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    query_id = explained(page)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("heading", name="What was read").wait_for()
    assert page.locator(".head code").inner_text() == query_id
    other = logged_in("/console#" + link.partition("#")[2], name="lou")
    other.get_by_role("heading", name="The text that was shared").wait_for()
    assert other.get_by_label("Shared SQL").inner_text() == JOINED
    other.get_by_label(":month").fill("2")
    other.get_by_role("button", name="Plan it").click()
    other.get_by_role("heading", name="What would be read").wait_for()
    assert f"{MONTH_DAYS_AT_WEEKENDS} of {DAYS}" in other.locator(".scan", has_text="shop.sales").inner_text()


def test_a_link_can_be_copied_by_hand_where_there_is_no_clipboard(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    query_id = explained(page)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.get_by_role("button", name="Copy link").click()
    field = page.get_by_label("Link to copy by hand")
    assert f"/console#/explain/{query_id}?" in field.input_value()
    selected = "field => field.value.slice(field.selectionStart, field.selectionEnd)"
    assert field.evaluate(selected) == field.input_value()


def test_a_filter_that_was_not_applied_has_its_cure(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    page.get_by_label("Schema").wait_for()
    run(page, "SELECT count(*) FROM sales s ANTI JOIN calendar d ON s.day_key = d.day_key AND d.month = 1")
    page.get_by_role("grid").wait_for()
    page.get_by_label("Result").get_by_role("link", name="Explain").click()
    refused = page.locator(".filter", has_text="anti join").first
    refused.wait_for()
    assert "No setting changes this" in refused.locator(".cure").inner_text()
    assert "docs/reference/pruned-sql.md" in refused.locator(".cure").inner_text()


def test_a_hostile_link_stays_text(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    page.goto(f"/console#/explain/{UNKNOWN_ID}?sql={HOSTILE}&with={HOSTILE}&catalog={HOSTILE}")
    assert HOSTILE in page.get_by_label("Shared SQL").inner_text()
    page.get_by_role("button", name="Plan it").click()
    page.get_by_role("alert").nth(1).wait_for()
    query_id = explained_by_address(page)
    page.goto(f"/console#/explain/{query_id}?with={HOSTILE}")
    page.locator(".card").get_by_role("alert").wait_for()
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("img").count() == 0


def explained_by_address(page: Any) -> str:
    page.goto("/console#/ask")
    return explained(page)


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_everyone_can_compare(logged_in: LoggedIn, size: str, scheme: str) -> None:
    options: dict[str, Any] = {"color_scheme": scheme, "reduced_motion": "reduce"}
    options |= {"viewport": PHONE} if size == "phone" else {}
    page = logged_in("/console", **options)
    explained(page, BY_NUMBER)
    card = page.locator(".card", has=page.get_by_role("heading", name="As written, and pruned"))
    card.get_by_label(":month").fill("2")
    card.get_by_role("button", name="Plan as written").click()
    card.get_by_role("button", name="Run as written").click()
    card.get_by_role("region", name="Time of the two queries").wait_for()
    card.evaluate("card => card.scrollIntoView()")
    picture(page, f"console-explain-compared-{size}")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
