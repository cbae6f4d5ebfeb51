"""Logs a user in at an issuer of another site, in a real browser: what its cookies allow is seen here alone.

The gateway's edge is over fakes, so no engine starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_authentication import build_login_issuers, build_verifier
from api.http.app import create_app
from api.http.authentication.process_clock import ProcessClock
from api.http.http_server import bind, url_of
from tests.client.gateways import HOST, furnished, serving_app
from tests.console.browsers import DESKTOP, Watched, violations
from tests.console.conftest import picture
from tests.fakes.gateway import FakeGateway
from tests.fakes.issuer_sessions import fake_issuer_sessions
from tests.fakes.oidc_issuer import AUDIENCE, CLIENT_ID, CLIENT_SECRET, OidcIssuer, oidc_issuer

pytestmark = pytest.mark.integration

ROOM = "#/ask?sql=SELECT+7+AS+seven"


@dataclass
class Place:
    url: str
    issuer: OidcIssuer
    page: Any


@pytest.fixture
def place(browser: Any) -> Iterator[Place]:
    # To a browser, `localhost` is another site than 127.0.0.1.
    with oidc_issuer("localhost") as issuer, bind(HOST, 0) as listening:
        issuer.flow.shows_page = True
        url = url_of(listening, Settings())
        settings = Settings(
            shutdown_timeout_s=0,
            api_keys=True,
            oidc_issuers={"corp": {"issuer": issuer.url, "audiences": [AUDIENCE]}},
            oidc_fetch_timeout_s=60,
            console_logins={"corp": {"client_id": CLIENT_ID, "title": "Corp"}},
            console_login_secrets={"corp": CLIENT_SECRET},
            console_url=url,
        )
        gateway = FakeGateway()
        # The browser compares the end of the session with the time of this machine.
        gateway._issuer_sessions = fake_issuer_sessions(ProcessClock())
        app = create_app(
            settings,
            lambda: gateway,
            verifier=build_verifier(settings),
            login_issuers=build_login_issuers(settings),
        )
        with serving_app(settings, app, listening), furnished(url, gateway):
            context = browser.new_context(base_url=url, viewport=DESKTOP)
            context.set_default_timeout(30_000)
            watched = Watched(context.new_page())
            yield Place(url, issuer, watched.page)
            context.close()
            assert watched.errors == []


def test_a_user_logs_in_at_an_issuer_of_another_site_and_out_again(place: Place) -> None:
    page = place.page
    page.goto(f"/console{ROOM}")
    button = page.get_by_role("button", name="Log in with Corp")
    button.wait_for()
    assert page.get_by_label("API key").is_visible()
    assert violations(page) == []
    picture(page, "login-issuer")
    button.click()
    page.get_by_role("link", name="Continue as ada").wait_for()
    assert page.url.startswith(f"{place.issuer.url}/authorize?")
    with page.expect_response("**/callback?*") as answered:
        page.get_by_role("link", name="Continue as ada").click()
    sent = answered.value.request.all_headers()
    # The browser says itself that another site leads it here, and that is when `Strict` cookies stay behind.
    assert sent["sec-fetch-site"] == "cross-site"
    assert "sluice_login=" in sent["cookie"]
    page.get_by_role("navigation", name="Rooms").wait_for()
    assert page.get_by_text("corp:ada", exact=True).is_visible()
    assert page.url == f"{place.url}/console{ROOM}"
    [cookie] = page.context.cookies(place.url)
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("sluice_session", True, "Strict")
    assert page.evaluate("[document.cookie, sessionStorage.length, localStorage.length]") == ["", 0, 0]
    page.reload()
    page.get_by_role("button", name="Log out").click()
    button.wait_for()
    assert page.context.cookies(place.url) == []
    assert page.url == f"{place.url}/console#/ask"


def test_a_user_who_says_no_is_led_to_a_page_that_says_so(place: Place) -> None:
    page = place.page
    page.goto("/console")
    page.get_by_role("button", name="Log in with Corp").click()
    page.get_by_role("link", name="No").click()
    page.get_by_role("heading", name="You are not logged in").wait_for()
    assert page.get_by_text("LOGIN_REFUSED").is_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Open the console").click()
    page.get_by_role("button", name="Log in with Corp").wait_for()
    assert page.context.cookies(place.url) == []


def test_an_issuer_that_is_down_leaves_the_user_here(place: Place) -> None:
    page = place.page
    place.issuer.is_down = True
    page.goto("/console")
    button = page.get_by_role("button", name="Log in with Corp")
    button.click()
    page.get_by_role("alert").wait_for()
    assert "does not answer" in page.get_by_role("alert").inner_text()
    assert button.is_enabled()
