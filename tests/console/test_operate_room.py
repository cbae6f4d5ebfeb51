"""Walks through the room of operators: who may enter, and what it shows and does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.console.conftest import OPERATOR, LoggedIn, fits_everyone, picture
from tests.console.test_rooms import JOINED, run, write
from tests.integration.running import ENDLESS, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

PARTS = ("queries", "gateway", "filters", "keys", "policies", "audit")


def enter(logged_in: LoggedIn, part: str = "", **options: Any) -> Any:
    return logged_in(f"/console#/operate/{part}", name="olga", roles=OPERATOR, **options)


def test_who_may_not_operate_is_refused_in_words(logged_in: LoggedIn) -> None:
    page = logged_in("/console")
    assert page.get_by_role("link", name="Operate").count() == 0
    page.goto("/console#/operate/keys")
    page.get_by_role("alert").get_by_text("This room is for operators").wait_for()


def test_an_operator_ends_the_query_of_another_caller(logged_in: LoggedIn) -> None:
    caller = logged_in("/console", name="lou")
    run(caller, ENDLESS)
    caller.get_by_text("Running").wait_for()
    page = enter(logged_in)
    row = page.get_by_role("region", name="Running queries").locator("tr", has_text="lou")
    row.wait_for()
    # The query is another caller's, so there is no link to its explanation.
    assert row.get_by_role("link").count() == 0
    row.get_by_role("button", name="Cancel").focus()
    page.keyboard.press("Enter")
    row.get_by_role("button", name="sure?").wait_for()
    page.keyboard.press("Enter")
    caller.get_by_text("The query was canceled.").wait_for()
    ended = page.get_by_role("region", name="Ended queries").locator("tr", has_text="lou")
    ended.locator(".state.CANCELED").wait_for()


def test_the_gateway_shows_its_parts_workers_and_caches(logged_in: LoggedIn) -> None:
    page = enter(logged_in, "gateway")
    parts = page.get_by_role("region", name="Parts", exact=True).locator("tr", has_text="engine")
    parts.locator(".state.SUCCEEDED").wait_for()
    caches = page.get_by_role("region", name="Caches", exact=True)
    caches.locator("tr", has_text="filter_keys").wait_for()
    assert caches.locator("tr", has_text="spooled_bodies").get_by_role("button").count() == 0
    tables = caches.locator("tr", has_text="tables").first
    tables.get_by_role("button", name="Empty").focus()
    page.keyboard.press("Enter")
    tables.get_by_role("button", name="sure?").focus()
    page.keyboard.press("Enter")
    tables.get_by_role("button", name="Empty").wait_for()
    assert tables.get_by_role("alert").count() == 0
    assert "query_workers" in page.get_by_role("region", name="Workers", exact=True).inner_text()
    assert re.search(r"GB of \d", page.locator(".bars").first.inner_text())
    assert "It answers" in page.locator(".card", has_text="Engine").last.inner_text()
    replicas = page.get_by_role("region", name="Replicas").locator("tr", has_text="this one")
    assert "alive" in replicas.inner_text()
    picture(page, "console-operate")


def test_keys_of_filters_are_deleted(logged_in: LoggedIn) -> None:
    caller = logged_in("/console")
    write(caller, JOINED)
    caller.get_by_label(":month").fill("3")
    caller.get_by_role("button", name="Run").click()
    # The first query of a gateway takes longer than all others.
    caller.get_by_role("grid").wait_for(timeout=120_000)
    page = enter(logged_in, "filters")
    page.get_by_role("region", name="Keys of filters").locator("td").first.wait_for()
    page.get_by_role("button", name="Delete all").click()
    page.get_by_role("button", name="Delete all: sure?").click()
    page.get_by_text("There are none: no query has collected keys lately.").wait_for()


def test_a_key_is_shown_once_and_revoked(logged_in: LoggedIn, gateway: RunningGateway) -> None:
    page = enter(logged_in, "keys")
    page.get_by_label("Principal").fill("nina")
    page.get_by_label("Roles").fill("reader, analyst")
    page.get_by_role("button", name="Create").click()
    secret = page.locator(".secret code").inner_text()
    assert re.fullmatch(r"sluice_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", secret)
    with gateway.client_with(secret) as client:
        assert client.get("/catalogs").status_code == 200
    page.get_by_role("button", name="I have it").click()
    row = page.get_by_role("region", name="Keys", exact=True).locator("tr", has_text="nina")
    row.wait_for()
    assert "analyst, reader" in row.inner_text()
    assert secret not in page.content()
    assert secret not in json.dumps(page.evaluate("Object.assign({}, localStorage, sessionStorage)"))
    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Revoke: sure?").click()
    row.get_by_text("revoked by olga").wait_for()
    with gateway.client_with(secret) as client:
        assert client.get("/catalogs").status_code == 401


def test_policies_say_what_somebody_would_see(logged_in: LoggedIn) -> None:
    page = enter(logged_in, "policies")
    assert "row filter" in page.get_by_role("region", name="Policies of analyst").inner_text()
    page.get_by_label("Roles").fill("analyst")
    page.get_by_label("Table").fill("lake.shop.sales")
    page.get_by_role("button", name="Decide").click()
    decision = page.locator(".decision")
    decision.locator(".state.SUCCEEDED").wait_for()
    assert "day_key < 7" in decision.inner_text()
    assert "note" in page.get_by_role("region", name="Masked columns").inner_text()
    # A person with a key has the roles of it.
    page.get_by_label("Person").select_option("olga")
    assert page.get_by_label("Roles").input_value() == "admin, operator"
    page.get_by_role("button", name="Decide").click()
    decision.get_by_text("for olga with admin, operator").wait_for()
    decision.get_by_text("All rows are seen.").wait_for()
    page.get_by_label("Roles").fill("nobody")
    assert page.get_by_label("Person").input_value() == ""
    page.get_by_role("button", name="Decide").click()
    decision.get_by_text("not granted").wait_for()


def test_the_audit_log_is_read_by_action(logged_in: LoggedIn) -> None:
    page = enter(logged_in, "audit")
    page.get_by_label("Action").fill("login")
    page.get_by_role("button", name="Show").click()
    events = page.get_by_role("region", name="Audit events")
    events.locator("td", has_text="olga").first.wait_for()
    actions = events.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert set(actions) == {"LOGIN"}
    page.get_by_label("Action").fill("no such action")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("alert").wait_for()


def test_everyone_can_use_it(logged_in: LoggedIn) -> None:
    page = enter(logged_in)
    for part in PARTS:
        page.goto(f"/console#/operate/{part}")
        page.locator(f'nav.sections a[aria-current][href="#/operate/{part}"]').wait_for()
        page.locator("main .card").first.wait_for()
        until(lambda: page.get_by_text("Loading …").count() == 0)
        fits_everyone(page, f"operate-{part}")
