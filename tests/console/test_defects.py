"""A part of the page that breaks says so, and the others go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.console.browsers import Watched, violations
from tests.console.conftest import MakeKey
from tests.console.test_rooms import run, write

pytestmark = pytest.mark.integration


def entered(opened: Callable[..., Watched], make_key: MakeKey) -> Watched:
    watched = opened("/console")
    watched.page.get_by_label("API key").fill(make_key("kim").text)
    watched.page.get_by_role("button", name="Log in").click()
    watched.page.get_by_role("navigation", name="Rooms").wait_for()
    return watched


def broken(page: Any, address: str, member: str) -> None:
    """Leaves a member out of an answer, as a gateway of another version might."""

    def answer(route: Any) -> None:
        found = json.loads(route.fetch().text())
        del found[member]
        route.fulfill(json=found)

    page.route(address, answer)


def test_a_part_that_cannot_be_drawn_leaves_the_others_alone(
    opened: Callable[..., Watched], make_key: MakeKey
) -> None:
    watched = entered(opened, make_key)
    page = watched.page
    broken(page, "**/tables/lake.shop.calendar", "snapshots")
    page.goto("/console#/tables?table=lake.shop.calendar")
    page.get_by_role("alert").get_by_text("“Snapshots” cannot be drawn").wait_for()
    page.get_by_role("region", name="Columns", exact=True).wait_for()
    page.get_by_role("heading", name="Maintenance").wait_for()
    assert violations(page) == []
    page.unroute("**/tables/lake.shop.calendar")
    # The browser's console has the cause, and no more than once for each time.
    assert len(watched.errors) >= 1
    watched.errors.clear()
    page.reload()
    page.get_by_role("heading", name="Snapshots").wait_for()
    assert page.get_by_role("alert").count() == 0


def test_a_room_that_cannot_be_drawn_leaves_the_way_to_others(
    opened: Callable[..., Watched], make_key: MakeKey
) -> None:
    watched = entered(opened, make_key)
    page = watched.page
    broken(page, "**/tables/lake.shop.calendar", "acceptedFilterColumns")
    page.goto("/console#/tables?table=lake.shop.calendar")
    page.get_by_role("alert").get_by_text("cannot be drawn").first.wait_for()
    page.get_by_role("navigation", name="Rooms").get_by_role("link", name="Ask").click()
    page.get_by_role("textbox", name="SQL").wait_for()
    assert page.get_by_role("alert").count() == 0
    watched.errors.clear()


def test_a_result_that_cannot_be_drawn_leaves_the_text(
    opened: Callable[..., Watched], make_key: MakeKey
) -> None:
    watched = entered(opened, make_key)
    page = watched.page

    def without_columns(route: Any) -> None:
        found = json.loads(route.fetch().text())
        if found.get("manifest") is not None:
            found["manifest"]["columns"] = None
        route.fulfill(json=found)

    page.route("**/query/*?waitTimeout=*", without_columns)
    run(page, "SELECT 1 AS one")
    page.get_by_role("alert").get_by_text("“Result” cannot be drawn").wait_for()
    editor = page.get_by_role("textbox", name="SQL")
    assert editor.inner_text() == "SELECT 1 AS one"
    watched.errors.clear()
    page.unroute("**/query/*?waitTimeout=*")
    write(page, "SELECT 2 AS two")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("gridcell", name="2", exact=True).wait_for()
    assert page.get_by_role("alert").count() == 0
