"""Walks through what a user does with saved queries in the room Ask, in a real browser at a real gateway."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.console.conftest import LoggedIn, MakeKey, fits_everyone, picture
from tests.console.tables import HOSTILE
from tests.console.test_rooms import cells, write
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

ANSWER = "SELECT 41 + 1 AS answer"


@pytest.fixture(autouse=True)
def _nothing_is_saved_afterwards(gateway: RunningGateway, make_key: MakeKey) -> Iterator[None]:
    yield
    for name in ("kim", "lou"):
        with closing(gateway.client_with(make_key(name).text)) as client:
            for saved in client.get("/saved-queries?scope=OWN").json()["savedQueries"]:
                assert client.delete(f"/saved-queries/{saved['savedQueryId']}").status_code == 204


def save(page: Any, sql: str, name: str, *, before: str = "", shared: bool = False) -> None:
    """Saves a text under a name, by keyboard alone; the name is added to the one `before`."""
    write(page, sql)
    page.keyboard.press("Control+s")
    page.get_by_role("textbox", name="Name").wait_for()
    page.keyboard.insert_text(name)
    if shared:
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    saved_in(page, "Yours").get_by_role("button", name=f"{before}{name}", exact=True).wait_for()


def sure(entries: Any, act: str, name: str) -> None:
    """Acts by keyboard on a saved query, and says yes."""
    entries.get_by_role("button", name=f"{act} {name}").focus()
    entries.page.keyboard.press("Enter")
    entries.get_by_role("button", name=f"{act}: sure? {name}").wait_for()
    entries.page.keyboard.press("Enter")


def saved_in(page: Any, title: str) -> Any:
    return page.get_by_role("list", name=title, exact=True)


def editor_text(page: Any) -> str:
    text: str = page.get_by_role("textbox", name="SQL").inner_text()
    return text


def test_a_query_is_saved_by_keyboard_shared_and_opened_by_another_user(logged_in: LoggedIn) -> None:
    kim = logged_in("/console")
    save(kim, ANSWER, "The answer", shared=True)
    assert kim.locator(".opened").inner_text().startswith("The answer")
    # The focus is back in the text, which can be written on.
    kim.keyboard.press("Control+End")
    kim.keyboard.type(" -- 42")
    kim.get_by_text("edited, not saved").wait_for()
    save(kim, "SELECT 'mine' AS text", " only", before="The answer")
    lou = logged_in("/console", "lou")
    shared = saved_in(lou, "Shared by others")
    shared.get_by_role("button", name="The answer only", exact=True).wait_for()
    # Only its owner may change it.
    assert shared.get_by_role("button").count() == 1
    assert "by kim" in shared.inner_text()
    shared.get_by_role("button", name="The answer only").click()
    lou.locator(".opened").wait_for()
    assert editor_text(lou) == "SELECT 'mine' AS text"
    picture(lou, "saved-by-another")
    lou.keyboard.press("Control+Enter")
    lou.get_by_role("grid").wait_for()
    assert cells(lou.get_by_role("grid")) == [["mine"]]


def test_sharing_ends_and_a_saved_query_is_deleted(logged_in: LoggedIn) -> None:
    kim, lou = logged_in("/console"), logged_in("/console", "lou")
    save(kim, ANSWER, "The answer")
    own = saved_in(kim, "Yours")
    assert "private" in own.inner_text()
    for act, words in (("Share", "shared"), ("Stop sharing", "private")):
        sure(own, act, "The answer")
        own.get_by_text(words, exact=True).wait_for()
        lou.reload()
        lou.get_by_role("heading", name="Saved queries").wait_for()
        nothing = lou.get_by_text("Save a query to find it here")
        (nothing if words == "private" else saved_in(lou, "Shared by others")).wait_for()
        assert saved_in(lou, "Shared by others").count() == (words == "shared")
    sure(own, "Delete", "The answer")
    kim.get_by_text("Save a query to find it here").wait_for()
    # The text stays in the editor.
    assert editor_text(kim) == ANSWER
    assert kim.locator(".opened").count() == 0


def test_a_change_that_came_first_is_not_lost(logged_in: LoggedIn) -> None:
    first, second = logged_in("/console"), logged_in("/console")
    save(first, ANSWER, "The answer")
    second.reload()
    saved_in(second, "Yours").get_by_role("button", name="The answer", exact=True).click()
    second.locator(".opened").wait_for()
    save(first, "SELECT 2 AS first", "", before="The answer")
    write(second, "SELECT 3 AS second")
    second.get_by_role("button", name="Save …").click()
    second.get_by_role("button", name="Save changes").click()
    assert "SAVED_QUERY_CHANGED" in second.get_by_role("alert").inner_text()
    picture(second, "saved-conflict")
    second.get_by_role("button", name="Open the newest version").click()
    until(lambda: editor_text(second) == "SELECT 2 AS first")
    write(second, "SELECT 3 AS second")
    second.keyboard.press("Control+s")
    second.get_by_role("button", name="Save as new").click()
    until(lambda: saved_in(second, "Yours").get_by_role("listitem").count() == 2)


def test_a_saved_query_is_opened_by_its_address_and_found_by_its_name(
    logged_in: LoggedIn, gateway: RunningGateway, make_key: MakeKey
) -> None:
    with closing(gateway.client_with(make_key("kim").text)) as client:
        ids = [
            client.post("/saved-queries", json={"name": f"Number {number}", "sql": f"SELECT {number}"}).json()
            for number in range(10)
        ]
    page = logged_in(f"/console#/ask?saved={ids[7]['savedQueryId']}")
    until(lambda: editor_text(page) == "SELECT 7")
    page.get_by_role("searchbox", name="Find a saved query").fill("number 3")
    until(lambda: saved_in(page, "Yours").get_by_role("listitem").count() == 1)
    assert "Number 3" in saved_in(page, "Yours").inner_text()
    page.goto("/console#/ask?saved=00000000-0000-0000-0000-000000000000")
    assert "SAVED_QUERY_NOT_FOUND" in page.get_by_role("alert").inner_text()


def test_hostile_saved_names_and_texts_stay_text(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    save(page, f"SELECT '{HOSTILE}'", HOSTILE, shared=True)
    other = logged_in("/console", "lou")
    saved_in(other, "Shared by others").get_by_role("button", name=HOSTILE, exact=True).click()
    other.locator(".opened").wait_for()
    for each in (page, other):
        assert HOSTILE in each.locator(".opened").inner_text()
        assert editor_text(each) == f"SELECT '{HOSTILE}'"
        assert each.evaluate("typeof hacked") == "undefined"
        assert each.locator("img").count() == 0


def test_everyone_can_use_saved_queries(logged_in: LoggedIn) -> None:
    save(logged_in("/console", "lou"), "SELECT 1", "One of lou", shared=True)
    page = logged_in("/console")
    save(page, ANSWER, "The answer", shared=True)
    page.get_by_role("textbox", name="SQL").click()
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Save changes").wait_for()
    assert re.search(r"Others can read the text", page.locator(".save").inner_text())
    fits_everyone(page, "saved")
    page.keyboard.press("Escape")
    assert page.locator(".save").count() == 0
    saved_in(page, "Yours").scroll_into_view_if_needed()
    fits_everyone(page, "saved-list")
