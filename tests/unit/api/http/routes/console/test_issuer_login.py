"""Tests how users log in at their issuer, and what attackers can make of it. The issuer is a real server."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_authentication import build_login_issuers, build_verifier
from api.http.app import create_app
from tests.fakes.api_keys import fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.fakes.issuer_sessions import FakeIssuerSessionStore, fake_issuer_sessions
from tests.fakes.oidc_issuer import (
    AUDIENCE,
    CLIENT_ID,
    CLIENT_SECRET,
    DISCOVERY,
    TOKEN,
    CodeFlow,
    OidcIssuer,
    oidc_issuer,
)
from tests.unit.api.conftest import client_of

pytestmark = pytest.mark.anyio

BEGIN, BACK, SESSION = "/console/login/corp", "/console/login/corp/callback", "/console/session"
OWN = {"X-Sluice-Console": "1", "Sec-Fetch-Site": "same-origin"}
BROWSER = {"Accept": "text/html,*/*", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
CONSOLE = "http://localhost"


@pytest.fixture(scope="module")
def one_issuer() -> Iterator[OidcIssuer]:
    with oidc_issuer() as running:
        yield running


@pytest.fixture
def issuer(one_issuer: OidcIssuer) -> OidcIssuer:
    one_issuer.flow = CodeFlow()
    one_issuer.answers.clear()
    one_issuer.is_down = one_issuer.is_slow = False
    return one_issuer


class House:
    """A gateway whose users log in at an issuer, with sessions in memory."""

    def __init__(self, issuer: OidcIssuer) -> None:
        self.issuer = issuer
        self.clock = FakeClock(datetime.now(UTC))
        self.gateway = FakeGateway()
        self.store = FakeIssuerSessionStore()
        self.gateway._issuer_sessions = fake_issuer_sessions(self.clock, self.store)
        self.gateway._api_keys = fake_api_keys(self.clock)
        self.given: dict[str, Any] = {
            "oidc_issuers": {
                "corp": {"issuer": issuer.url, "audiences": [AUDIENCE], "roles_claim": "groups"},
                "other": {"issuer": "https://other.example", "audiences": [AUDIENCE]},
            },
            "console_logins": {
                "corp": {"client_id": CLIENT_ID, "title": "Corp"},
                "other": {"client_id": CLIENT_ID},
            },
            "console_login_secrets": {"corp": CLIENT_SECRET},
            "console_url": CONSOLE,
            "api_key_cache_ttl_s": 5,
            "oidc_fetch_timeout_s": 60,
        }

    def login(self, **changes: Any) -> None:
        self.given["console_logins"]["corp"] |= changes

    @asynccontextmanager
    async def client(self, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
        given = Settings(**self.given | settings)
        app = create_app(
            given,
            lambda: self.gateway,
            verifier=build_verifier(given),
            clock=self.clock,
            login_issuers=build_login_issuers(given),
        )
        async with client_of(app) as client:
            yield client


@pytest.fixture
def house(issuer: OidcIssuer) -> House:
    return House(issuer)


async def begun(client: httpx.AsyncClient, **headers: str) -> str:
    """Returns the issuer's address for a new login."""
    answer = await client.post(BEGIN, headers=OWN | headers)
    assert answer.status_code == 200, answer.text
    address: str = answer.json()["address"]
    return address


def at_issuer(address: str) -> str:
    """Goes to the issuer, as the browser does, and returns the address that it leads back to."""
    led = httpx.get(address)
    assert led.status_code == 302
    back: str = led.headers["location"]
    return back


async def came_back(client: httpx.AsyncClient, address: str, **headers: str) -> httpx.Response:
    return await client.get(address, headers=BROWSER | headers)


async def log_in(client: httpx.AsyncClient) -> httpx.Response:
    return await came_back(client, at_issuer(await begun(client)))


def cookies_of(answer: httpx.Response) -> dict[str, Any]:
    sent = answer.headers.get_list("set-cookie")
    return {cookie.key: cookie for each in sent for cookie in SimpleCookie(each).values()}


def code_in(page: httpx.Response) -> str:
    """Returns the code of the error that a page shows."""
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    return page.text.partition("<code>")[2].partition("</code>")[0]


async def roles_of_session(house: House, client: httpx.AsyncClient) -> tuple[str, ...]:
    """Logs out, and returns the roles that the session had, as the audit log has them."""
    assert (await client.delete(SESSION, headers=OWN)).status_code == 204
    return house.gateway.trail.events[-1].origin.roles


async def is_logged_in(client: httpx.AsyncClient) -> bool:
    return (await client.get(SESSION)).status_code == 200


async def test_a_user_logs_in_at_the_issuer(house: House, issuer: OidcIssuer) -> None:
    issuer.flow.id_claims = {"groups": ["reader"], "exp": int(time.time()) + 600}
    async with house.client() as client:
        assert (await client.get(SESSION)).status_code == 401
        begin = await client.post(BEGIN, headers=OWN)
        kept = cookies_of(begin)["sluice_login"]
        assert (kept["samesite"], kept["httponly"], kept["max-age"]) == ("Lax", True, "600")
        answer = await came_back(client, at_issuer(begin.json()["address"]))
        assert (answer.status_code, answer.headers["location"]) == (303, "/console#/back")
        session = cookies_of(answer)["sluice_session"]
        assert (session["samesite"], session["httponly"], session["path"]) == ("Strict", True, "/")
        assert cookies_of(answer)["sluice_login"]["max-age"] == "0"
        assert 590 <= int(session["max-age"]) <= 610
        assert (await client.get(SESSION)).json()["principal"] == "corp:ada"
        assert (await client.post("/query", json={"sql": "select 1"}, headers=OWN)).status_code == 200
        assert await roles_of_session(house, client) == ("reader",)
    [query] = house.gateway.queries.by_id.values()
    assert query.record.caller == "corp:ada"


async def test_what_the_issuer_gets_has_neither_the_secret_nor_the_verifier(
    house: House, issuer: OidcIssuer
) -> None:
    house.login(scopes=["openid", "profile"], parameters={"prompt": "login", "audience": "a&b"})
    async with house.client() as client:
        address = await begun(client)
        await came_back(client, at_issuer(address))
    [asked], [redeemed] = issuer.flow.asked, issuer.flow.redeemed
    names = {"state", "nonce", "code_challenge"}
    assert {name: value for name, value in asked.items() if name not in names} == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "scope": "openid profile",
        "redirect_uri": f"{CONSOLE}{BACK}",
        "code_challenge_method": "S256",
        "prompt": "login",
        "audience": "a&b",
    }
    assert redeemed["code_verifier"] not in address
    assert len({asked[name] for name in names}) == len(names)
    assert "client_secret" not in redeemed


@pytest.mark.parametrize("is_public", [True, False])
async def test_a_client_without_basic_authentication_sends_what_it_has(
    house: House, issuer: OidcIssuer, is_public: bool
) -> None:
    issuer.flow = CodeFlow(is_public=is_public, takes_basic=False)
    more: dict[str, Any] = {"console_login_secrets": {}} if is_public else {}
    async with house.client(**more) as client:
        assert (await log_in(client)).status_code == 303


async def test_by_an_access_token_a_user_is_who_the_api_says(house: House, issuer: OidcIssuer) -> None:
    house.login(named_by="access_token")
    issuer.flow.access_claims = {"groups": ["loader"], "exp": int(time.time()) + 300}
    issuer.flow.id_claims = {"groups": ["other"], "exp": int(time.time()) + 600}
    async with house.client() as client:
        answer = await log_in(client)
        assert int(cookies_of(answer)["sluice_session"]["max-age"]) <= 310
        assert await roles_of_session(house, client) == ("loader",)
        for wrong in ({"sub": "eve"}, {"aud": "elsewhere"}, {"exp": 1}):
            issuer.flow.access_claims = wrong
            assert code_in(await log_in(client)) == "LOGIN_TOKEN_INVALID"


async def test_the_console_asks_how_users_log_in(house: House) -> None:
    async with house.client() as client:
        found = (await client.get("/console/logins")).json()
        issuers = [{"name": "corp", "title": "Corp"}, {"name": "other", "title": "other"}]
        assert found == {"apiKeys": False, "issuers": issuers}


async def test_without_logins_of_issuers_there_are_none(house: House) -> None:
    async with house.client(console_logins={}, console_login_secrets={}, api_keys=True) as client:
        assert (await client.get("/console/logins")).json() == {"apiKeys": True, "issuers": []}
        answer = await client.post(BEGIN, headers=OWN)
        assert (answer.status_code, answer.json()["code"]) == (404, "LOGIN_UNKNOWN")
        assert (await client.get(BACK)).json()["code"] == "LOGIN_UNKNOWN"


async def test_an_unknown_issuer_is_named(house: House) -> None:
    async with house.client() as client:
        for answer in (
            await client.post("/console/login/nobody", headers=OWN),
            await client.get("/console/login/nobody/callback"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "LOGIN_UNKNOWN")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Sluice-Console": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "", "Origin": "https://evil.example"},
    ],
)
async def test_another_page_cannot_begin_a_login(house: House, headers: dict[str, str]) -> None:
    sent = {name: value for name, value in (OWN | headers).items() if value}
    async with house.client() as client:
        answer = await client.post(BEGIN, headers=sent)
        assert (answer.status_code, answer.json()["code"]) == (403, "CROSS_SITE_REQUEST")
        assert "set-cookie" not in answer.headers
        assert (await client.get(BEGIN)).status_code == 405


async def test_a_login_begins_at_the_address_that_the_issuer_leads_back_to(house: House) -> None:
    async with house.client() as client:
        answer = await client.post(BEGIN, headers=OWN | {"Origin": "http://127.0.0.1"})
        assert (answer.status_code, answer.json()["code"]) == (403, "LOGIN_ELSEWHERE")
        assert f"{CONSOLE}/console" in answer.json()["detail"]
        assert await begun(client, Origin=CONSOLE)


async def test_behind_tls_both_cookies_are_for_tls_alone(house: House) -> None:
    async with house.client(console_url="https://sluice.example") as client:
        begin = await client.post(BEGIN, headers=OWN | {"Origin": "https://sluice.example"})
        kept = cookies_of(begin)["__Host-sluice_login"]
        assert (bool(kept["secure"]), kept["path"], kept["domain"]) == (True, "/", "")
        back = at_issuer(begin.json()["address"])
        assert back.startswith("https://sluice.example/console/login/corp/callback?")
        client.cookies.clear()
        path = back.removeprefix("https://sluice.example")
        # Any page of a neighbor, or without TLS, can set a cookie without the prefix.
        planted = await came_back(client, path, Cookie=f"sluice_login={kept.value}")
        assert code_in(planted) == "LOGIN_NOT_BEGUN"
        answer = await came_back(client, path, Cookie=f"__Host-sluice_login={kept.value}")
        assert answer.status_code == 303
        assert bool(cookies_of(answer)["__Host-sluice_session"]["secure"])


async def test_a_wrong_state_logs_nobody_in(house: House, issuer: OidcIssuer) -> None:
    async with house.client() as client:
        back = at_issuer(await begun(client))
        query = parse_qs(urlsplit(back).query)
        [code], [state] = query["code"], query["state"]
        for wrong in (
            f"code={code}",
            f"code={code}&state=",
            f"code={code}&state={state}&state={state}",
            f"code={code}&state={state[:-1]}",
            f"code={code}&state=é\ud800".encode("utf-8", "replace").decode(),
        ):
            page = await came_back(client, f"{BACK}?{wrong}")
            assert (page.status_code, code_in(page)) == (401, "LOGIN_NOT_BEGUN")
            # The login itself goes on: any page can lead a browser here.
            assert "set-cookie" not in page.headers
        assert issuer.flow.redeemed == []
        assert (await came_back(client, back)).status_code == 303


async def test_a_code_of_an_attacker_logs_nobody_in(house: House) -> None:
    async with house.client() as attacker:
        stolen = at_issuer(await begun(attacker))
        async with house.client() as victim:
            # The victim has begun no login.
            assert code_in(await came_back(victim, stolen)) == "LOGIN_NOT_BEGUN"
            await begun(victim)
            assert code_in(await came_back(victim, stolen)) == "LOGIN_NOT_BEGUN"
            assert not await is_logged_in(victim)


@pytest.mark.parametrize(("checks_pkce", "code"), [(True, "LOGIN_REFUSED"), (False, "LOGIN_TOKEN_INVALID")])
async def test_a_code_of_another_login_is_of_no_use(
    house: House, issuer: OidcIssuer, checks_pkce: bool, code: str
) -> None:
    issuer.flow.checks_pkce = checks_pkce
    async with house.client() as victim, house.client() as thief:
        stolen = parse_qs(urlsplit(at_issuer(await begun(victim))).query)["code"][0]
        own = parse_qs(urlsplit(at_issuer(await begun(thief))).query)["state"][0]
        page = await came_back(thief, f"{BACK}?code={stolen}&state={own}")
        # By PKCE, the issuer refuses it. If the issuer does not look, the nonce of its token is wrong.
        assert (page.status_code, code_in(page)) == (401, code)
        assert not await is_logged_in(thief)


async def test_a_code_is_of_use_once(house: House, issuer: OidcIssuer) -> None:
    async with house.client() as client:
        address = await begun(client)
        kept = client.cookies["sluice_login"]
        back = at_issuer(address)
        assert (await came_back(client, back)).status_code == 303
        # The browser has no login any more, so Back and a reload send no code again.
        assert code_in(await came_back(client, back)) == "LOGIN_NOT_BEGUN"
        assert len(issuer.flow.redeemed) == 1
        client.cookies.clear()
        page = await came_back(client, back, Cookie=f"sluice_login={kept}")
        assert code_in(page) == "LOGIN_REFUSED"


async def test_a_login_takes_minutes_at_most(house: House, issuer: OidcIssuer) -> None:
    async with house.client(console_login_timeout_s=60) as client:
        back = at_issuer(await begun(client))
        kept = client.cookies["sluice_login"]
        name, begun_s, secret = kept.split(".")
        house.clock.jump(timedelta(seconds=61))
        assert code_in(await came_back(client, back, Cookie=f"sluice_login={kept}")) == "LOGIN_EXPIRED"
        # The beginning is a part of the state, so it cannot be moved.
        later = f"{name}.{int(begun_s) + 60}.{secret}"
        client.cookies.clear()
        assert code_in(await came_back(client, back, Cookie=f"sluice_login={later}")) == "LOGIN_NOT_BEGUN"
        assert issuer.flow.redeemed == []


async def test_the_answer_of_another_issuer_is_refused(house: House, issuer: OidcIssuer) -> None:
    async with house.client() as client:
        back = at_issuer(await begun(client))
        # The mix-up attack: the browser comes back to the address of another issuer.
        elsewhere = back.replace("/login/corp/", "/login/other/")
        assert code_in(await came_back(client, elsewhere)) == "LOGIN_NOT_BEGUN"
        page = await came_back(client, f"{back}&iss=https://other.example")
        assert code_in(page) == "LOGIN_REFUSED"
        assert issuer.flow.redeemed == []


async def test_an_issuer_that_names_itself_always_does(house: House, issuer: OidcIssuer) -> None:
    issuer.flow.names_itself = True
    async with house.client() as client:
        assert (await log_in(client)).status_code == 303
        back = at_issuer(await begun(client))
        unnamed = back.partition("&iss=")[0]
        assert "iss=" not in unnamed
        assert code_in(await came_back(client, unnamed)) == "LOGIN_REFUSED"


async def test_the_browser_goes_on_to_the_console_and_nowhere_else(house: House) -> None:
    async with house.client() as client:
        for more in ("&redirect_uri=https://evil.example", "&next=//evil.example", "&returnTo=/query"):
            answer = await came_back(client, at_issuer(await begun(client)) + more)
            assert answer.headers["location"] == "/console#/back"
        query = "?redirect_uri=https://evil.example&next=//evil.example"
        begin = await client.post(BEGIN + query, headers=OWN)
        asked = parse_qs(urlsplit(begin.json()["address"]).query)
        assert asked["redirect_uri"] == [f"{CONSOLE}{BACK}"]
        hosts = await client.post(BEGIN, headers=OWN | {"Host": "evil.example"})
        assert parse_qs(urlsplit(hosts.json()["address"]).query)["redirect_uri"] == [f"{CONSOLE}{BACK}"]


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": ["a"]},
        {"aud": AUDIENCE},
        {"aud": [CLIENT_ID, "other"]},
        {"aud": [CLIENT_ID, "other"], "azp": "other"},
        {"azp": "other"},
        {"iss": "https://other.example"},
        {"iss": "https://nobody.example"},
        {"exp": 1},
        {"exp": None},
        {"sub": ""},
        {"sub": None},
        {"sub": 7},
    ],
    ids=repr,
)
async def test_a_wrong_id_token_logs_nobody_in(
    house: House, issuer: OidcIssuer, claims: dict[str, Any]
) -> None:
    issuer.flow.id_claims = claims
    async with house.client() as client:
        page = await log_in(client)
        assert (page.status_code, code_in(page)) == (401, "LOGIN_TOKEN_INVALID")
        assert not await is_logged_in(client)


async def test_a_token_of_another_key_logs_nobody_in(house: House, issuer: OidcIssuer) -> None:
    with oidc_issuer() as thief:
        async with house.client() as client:
            address = await begun(client)
            nonce = parse_qs(urlsplit(address).query)["nonce"][0]
            forged = thief.token(iss=issuer.url, aud=CLIENT_ID, nonce=nonce)
            issuer.answers[TOKEN] = (200, json.dumps({"id_token": forged}).encode(), {})
            assert code_in(await came_back(client, at_issuer(address))) == "LOGIN_TOKEN_INVALID"


async def test_an_id_token_for_several_says_who_asked_for_it(house: House, issuer: OidcIssuer) -> None:
    issuer.flow.id_claims = {"aud": [CLIENT_ID, "other"], "azp": CLIENT_ID}
    async with house.client() as client:
        assert (await log_in(client)).status_code == 303


async def test_claims_that_are_required_of_tokens_are_required_of_logins(house: House) -> None:
    house.given["oidc_issuers"]["corp"]["required_claims"] = {"email_verified": True}
    async with house.client() as client:
        assert code_in(await log_in(client)) == "LOGIN_TOKEN_INVALID"
        house.issuer.flow.id_claims = {"email_verified": True}
        assert (await log_in(client)).status_code == 303


async def test_a_user_who_says_no_gets_a_page(house: House, caplog: pytest.LogCaptureFixture) -> None:
    async with house.client() as client:
        state = parse_qs(urlsplit(await begun(client)).query)["state"][0]
        denied = f"{BACK}?error=access_denied&error_description=<script>&state={state}"
        page = await came_back(client, denied)
        assert (page.status_code, code_in(page)) == (401, "LOGIN_REFUSED")
        assert "script" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"
    assert "access_denied" in caplog.text


async def test_programs_get_a_problem(house: House) -> None:
    async with house.client() as client:
        answer = await client.get(f"{BACK}?code=a&state=b")
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["code"]) == (401, "LOGIN_NOT_BEGUN")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ((503, b"", {}), 503),
        ((200, b"no json", {}), 503),
        ((200, b"{}", {}), 503),
        ((200, b'{"id_token": 7}', {}), 503),
        ((302, b"", {"Location": "https://evil.example"}), 503),
        ((401, b'{"error": "invalid_client"}', {}), 503),
        ((400, b'{"error": "invalid_grant"}', {}), 401),
        ((400, b"", {}), 401),
        ((200, b"{" + b" " * 600_000, {}), 503),
    ],
    ids=["down", "text", "empty", "number", "redirect", "client", "grant", "nothing", "large"],
)
async def test_an_issuer_that_gives_no_tokens_logs_nobody_in(
    house: House, issuer: OidcIssuer, answer: tuple[int, bytes, dict[str, str]], status: int
) -> None:
    async with house.client() as client:
        back = at_issuer(await begun(client))
        issuer.answers[TOKEN] = answer
        page = await came_back(client, back)
        assert page.status_code == status
        assert code_in(page) == ("AUTHENTICATION_DOWN" if status == 503 else "LOGIN_REFUSED")
        assert not await is_logged_in(client)


async def test_an_issuer_that_is_down_is_not_asked_by_every_login(house: House, issuer: OidcIssuer) -> None:
    issuer.is_down = True
    before = issuer.requests.count(DISCOVERY)
    async with house.client(oidc_keys_cooldown_s=5) as client:
        for _ in range(3):
            answer = await client.post(BEGIN, headers=OWN)
            assert (answer.status_code, answer.json()["code"]) == (503, "AUTHENTICATION_DOWN")
        assert issuer.requests.count(DISCOVERY) == before + 1
        issuer.is_down = False
        house.clock.advance(timedelta(seconds=5))
        assert await begun(client)
        # Its last answer counts, however old.
        issuer.is_down = True
        house.clock.advance(timedelta(seconds=301))
        assert await begun(client)


async def test_nobody_waits_on_for_an_answer_that_does_not_end(house: House, issuer: OidcIssuer) -> None:
    async with house.client(oidc_fetch_timeout_s=1) as client:
        back = at_issuer(await begun(client))
        issuer.is_slow = True
        # Otherwise a failure of this test would not end.
        enough = threading.Timer(60, setattr, (issuer, "is_slow", False))
        enough.start()
        page = await came_back(client, back)
        assert (page.status_code, code_in(page)) == (503, "AUTHENTICATION_DOWN")
        assert issuer.is_slow
        issuer.is_slow = False
        enough.cancel()


async def test_a_token_address_that_is_none_is_an_issuer_that_is_down(
    house: House, issuer: OidcIssuer
) -> None:
    document = json.loads(httpx.get(issuer.url + DISCOVERY).content)
    document["token_endpoint"] = "https://a.example/\x7f"
    issuer.answers[DISCOVERY] = (200, json.dumps(document).encode(), {})
    async with house.client() as client:
        page = await log_in(client)
        assert (page.status_code, code_in(page)) == (503, "AUTHENTICATION_DOWN")


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint"])
@pytest.mark.parametrize(
    "url", [None, 7, "http://a.example/x", "javascript:alert(1)", "https://127.0.0.1:99999"]
)
async def test_an_endpoint_that_is_not_safe_is_not_used(
    house: House, issuer: OidcIssuer, name: str, url: object
) -> None:
    document = json.loads(httpx.get(issuer.url + DISCOVERY).content) | {name: url}
    issuer.answers[DISCOVERY] = (200, json.dumps(document).encode(), {})
    async with house.client() as client:
        answer = await client.post(BEGIN, headers=OWN)
        assert (answer.status_code, answer.json()["code"]) == (503, "AUTHENTICATION_DOWN")


async def test_a_session_ends_with_its_token(house: House, issuer: OidcIssuer) -> None:
    issuer.flow.id_claims = {"exp": int(time.time()) + 300}
    async with house.client() as client:
        await log_in(client)
        house.clock.advance(timedelta(seconds=301))
        answer = await client.get(SESSION)
        assert (answer.status_code, answer.json()["code"]) == (401, "KEY_SESSION_ENDED")


async def test_a_token_that_is_over_opens_no_session(house: House, issuer: OidcIssuer) -> None:
    # The leeway of clocks is 30 seconds. The session would end before the browser has it.
    issuer.flow.id_claims = {"exp": int(time.time()) - 10}
    async with house.client() as client:
        page = await log_in(client)
        assert (page.status_code, code_in(page)) == (401, "LOGIN_TOKEN_INVALID")
        assert "sluice_session" not in cookies_of(page)


async def test_a_session_ends_by_itself(house: House, issuer: OidcIssuer) -> None:
    issuer.flow.id_claims = {"exp": 99_999_999_999_999}
    async with house.client() as client:
        answer = await log_in(client)
        assert cookies_of(answer)["sluice_session"]["max-age"] == "43200"
        house.clock.advance(timedelta(hours=12, seconds=1))
        assert not await is_logged_in(client)


async def test_a_user_can_log_out(house: House) -> None:
    async with house.client() as client:
        text = cookies_of(await log_in(client))["sluice_session"].value
        answer = await client.delete(SESSION, headers=OWN)
        assert (answer.status_code, cookies_of(answer)["sluice_session"].value) == (204, "")
        kept = {"Cookie": f"sluice_session={text}"}
        assert (await client.get(SESSION, headers=kept)).json()["code"] == "KEY_SESSION_ENDED"


async def test_no_other_page_can_act_for_the_user(house: House) -> None:
    async with house.client() as client:
        await log_in(client)
        for headers in ({}, {"Sec-Fetch-Site": "same-site", "X-Sluice-Console": "1"}):
            answer = await client.post("/query", json={"sql": "select 1"}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "CROSS_SITE_REQUEST")


async def test_a_session_ends_with_the_trust_in_its_issuer(house: House) -> None:
    async with house.client() as client:
        text = cookies_of(await log_in(client))["sluice_session"].value
    kept = {"Cookie": f"sluice_session={text}"}
    async with house.client() as client:
        assert (await client.get(SESSION, headers=kept)).status_code == 200
    house.given["oidc_issuers"]["corp"]["issuer"] = "https://new.example"
    async with house.client() as client:
        assert (await client.get(SESSION, headers=kept)).json()["code"] == "KEY_SESSION_ENDED"
    async with house.client(console_logins={}, console_login_secrets={}, api_keys=True) as client:
        assert (await client.get(SESSION, headers=kept)).json()["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("text", ["oidc.", "oidc.x", "oidc.sluice_" + "0" * 16 + "_" + "A" * 43])
async def test_a_cookie_that_is_no_session_is_nobody(house: House, text: str) -> None:
    async with house.client() as client:
        sent = {"Cookie": f"sluice_session={text}"}
        answer = await client.get("/query", headers=sent)
        assert (answer.status_code, answer.json()["code"]) == (401, "KEY_SESSION_ENDED")


async def test_a_session_of_an_issuer_is_not_one_of_a_key(house: House) -> None:
    async with house.client(api_keys=True) as client:
        text = cookies_of(await log_in(client))["sluice_session"].value
        client.cookies.clear()
        sent = {"Cookie": f"sluice_session={text.removeprefix('oidc.')}"}
        assert (await client.get("/query", headers=sent)).status_code == 401
        bearer = {"Authorization": f"Bearer {text}"}
        assert (await client.get("/query", headers=bearer)).status_code == 401


async def test_failed_logins_are_slowed_down(house: House) -> None:
    async with house.client(auth_failures_per_minute=3) as client:
        statuses = []
        for _ in range(5):
            await begun(client)
            statuses.append((await came_back(client, f"{BACK}?code=a&state=b")).status_code)
        assert statuses[-1] == 429
        # One bad client behind a proxy does not lock the others out.
        assert (await log_in(client)).status_code == 303


async def test_strangers_cannot_make_the_gateway_flood_the_issuer(house: House, issuer: OidcIssuer) -> None:
    async with house.client(console_login_failures_per_minute=3) as client:
        for _ in range(4):
            assert (await log_in(client)).status_code == 303
        state = parse_qs(urlsplit(await begun(client)).query)["state"][0]
        kept = client.cookies["sluice_login"]
        issuer.flow.redeemed.clear()

        async def guessed(code: int) -> httpx.Response:
            cookie = f"sluice_login={kept}"
            return await came_back(client, f"{BACK}?code={code}&state={state}", Cookie=cookie)

        # All of them are there before the first is refused.
        pages = await asyncio.gather(*map(guessed, range(8)))
        assert sorted(page.status_code for page in pages) == [401] * 3 + [429] * 5
        assert len(issuer.flow.redeemed) == 3
        [refused, *_] = [page for page in pages if page.status_code == 429]
        assert (code_in(refused), refused.headers["retry-after"]) == ("TOO_MANY_FAILURES", "20")
        house.clock.advance(timedelta(seconds=20))
        assert (await log_in(client)).status_code == 303


async def test_logins_are_audited_and_secrets_are_nowhere(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async with house.client() as client:
        address = await begun(client)
        kept, back = client.cookies["sluice_login"], at_issuer(address)
        text = cookies_of(await came_back(client, back))["sluice_session"].value
        await client.delete(SESSION, headers=OWN)
        await came_back(client, f"{BACK}?code=a&state=b")
    login, logout = house.gateway.trail.events
    assert (login.action, login.outcome, logout.action) == ("LOGIN", "SUCCEEDED", "LOGOUT")
    for event in (login, logout):
        assert (event.origin.principal, event.origin.kind) == ("corp:ada", "oidc")
        assert event.details.target == text.split("_")[1]
    code = parse_qs(urlsplit(back).query)["code"][0]
    [redeemed] = house.issuer.flow.redeemed
    # The browser of this test logs the addresses that it opens.
    own = [each for each in caplog.records if not (each.name == "httpx" and CONSOLE in each.getMessage())]
    written = repr([each.getMessage() for each in own]) + repr(house.gateway.trail.events)
    for hidden in (code, kept, kept.split(".")[2], text, CLIENT_SECRET, redeemed["code_verifier"], "eyJ"):
        assert hidden not in written


async def test_a_login_that_cannot_be_audited_opens_nothing(house: House) -> None:
    house.gateway.trail.is_full = True
    async with house.client() as client:
        assert code_in(await log_in(client)) == "AUDIT_LOG_FULL"
        assert not await is_logged_in(client)


async def test_while_the_store_is_down_nobody_logs_in_and_known_sessions_go_on(house: House) -> None:
    async with house.client() as client:
        await log_in(client)
        assert await is_logged_in(client)
        house.store.is_down = True
        house.clock.advance(timedelta(seconds=6))
        page = await log_in(client)
        assert (page.status_code, code_in(page)) == (503, "METRICS_STORE_DOWN")
        assert await is_logged_in(client)
