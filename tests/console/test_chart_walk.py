"""Draws charts of results in a real browser. The gateway's edge is over fakes, so no engine starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client.gateways import furnished, serving
from tests.console.browsers import DESKTOP, PHONE, Watched, violations
from tests.console.conftest import picture

pytestmark = pytest.mark.integration

MONTHS = """SELECT * FROM (VALUES ('2026-01-01'::DATE, 'north', 12), ('2026-02-01', 'south', 31),
('2026-03-01', 'west', NULL), ('2026-04-01', '<b>east', -7)) AS t(month, region, sales)"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as (url, gateway), furnished(url, gateway):
        yield url


@pytest.fixture
def open_page(browser: Any, url: str) -> Iterator[Any]:
    opened: list[Watched] = []

    def open_page(sql: str, **options: Any) -> Any:
        context = browser.new_context(base_url=url, **({"viewport": DESKTOP} | options))
        context.set_default_timeout(30_000)
        opened.append(Watched(context.new_page()))
        page = opened[-1].page
        page.goto("/console")
        run(page, sql)
        return page

    yield open_page
    for watched in opened:
        watched.page.context.close()
        assert watched.errors == []


def run(page: Any, sql: str) -> None:
    page.get_by_role("textbox", name="SQL").click()
    page.keyboard.press("Control+a")
    # Otherwise, the browser gives the new text the style of the old one, which the page forbids.
    page.keyboard.press("Delete")
    page.keyboard.insert_text(sql)
    page.keyboard.press("Control+Enter")
    page.locator(".facts").wait_for()


def test_a_result_becomes_a_chart_whose_axes_can_be_chosen(open_page: Any) -> None:
    page = open_page(MONTHS)
    button = page.get_by_role("button", name="Chart")
    button.click()
    chart = page.get_by_role("region", name="Chart")
    lines = chart.get_by_role("img", name="Line chart of sales by month")
    lines.wait_for()
    assert "3 rows from 2026-01-01 to 2026-04-01" in lines.get_attribute("aria-label")
    assert "The least is -7 at 2026-04-01, the greatest 31 at 2026-02-01" in lines.get_attribute("aria-label")
    assert "1 row without a value on an axis is left out" in chart.inner_text()
    assert chart.locator("circle").count() == 3
    # The table stays, for who does not see the picture.
    assert page.get_by_role("grid").is_visible()
    chart.get_by_label("Kind").select_option("Bars")
    chart.get_by_label("Bottom").select_option("region")
    chart.get_by_role("img", name="Bar chart of sales by region").wait_for()
    assert chart.locator("rect").count() == 3
    assert chart.locator("title").last.text_content() == "<b>east: -7"
    picture(page, "chart")
    assert violations(page) == []
    # The next run has a chart of the same columns.
    run(page, f"SELECT * FROM ({MONTHS}) WHERE sales > 0")
    chart.get_by_role("img", name="Bar chart of sales by region: 2 rows").wait_for()
    button.click()
    assert chart.count() == 0


def test_a_chart_is_dark_and_small_where_the_page_is(open_page: Any) -> None:
    sql = "SELECT range AS a, sin(range / 30.0) AS b FROM range(3000)"
    page = open_page(sql, viewport=PHONE, color_scheme="dark")
    page.get_by_role("button", name="Chart").click()
    chart = page.get_by_role("region", name="Chart")
    chart.get_by_role("img", name="Chart of points of b by a").wait_for()
    chart.get_by_label("Kind").select_option("Line")
    chart.get_by_role("img", name="Line chart of b by a").wait_for()
    picture(page, "chart-phone")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_result_without_numbers_has_no_chart(open_page: Any) -> None:
    page = open_page("SELECT 'a' AS word, [1, 2] AS list")
    page.get_by_role("grid").wait_for()
    assert page.get_by_role("button", name="Chart").count() == 0
