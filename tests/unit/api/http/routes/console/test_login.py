"""Tests how browsers log in, who they are then, and when that ends."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from service.authentication.key_sessions import MOST_OF_A_KEY
from service.authentication.manage_keys import KeyRequest
from service.model.authentication.api_keys import MadeKey
from tests.fakes.api_keys import FakeApiKeyStore, fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running, client_of

pytestmark = pytest.mark.anyio

SESSION = "/console/session"
OWN = {"X-Sluice-Console": "1", "Sec-Fetch-Site": "same-origin"}
TOKENS = {"tess": hashlib.sha256(b"tess's").hexdigest()}


class House:
    """A gateway with keys in memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.gateway = FakeGateway()
        self.store = FakeApiKeyStore(self.clock)
        self.keys = fake_api_keys(self.clock, self.store)
        self.gateway._api_keys = self.keys

    def key(self, name: str = "kim", *, hours: float | None = None) -> MadeKey:
        lifetime = None if hours is None else timedelta(hours=hours)
        return self.keys.create(KeyRequest(name, frozenset({"reader"}), lifetime=lifetime), by="test")

    @asynccontextmanager
    async def client(self, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
        given: dict[str, Any] = {"api_tokens": TOKENS, "api_keys": True, "api_key_cache_ttl_s": 5}
        app = create_app(Settings(**given | settings), lambda: self.gateway, clock=self.clock)
        async with client_of(app) as client:
            yield client


@pytest.fixture
def house() -> House:
    return House()


async def log_in(client: httpx.AsyncClient, text: str, **headers: str) -> httpx.Response:
    return await client.post(SESSION, headers=OWN | {"Authorization": f"Bearer {text}"} | headers)


def cookies_of(answer: httpx.Response) -> list[Any]:
    sent = answer.headers.get_list("set-cookie")
    return [cookie for each in sent for cookie in SimpleCookie(each).values()]


def cookie_of(answer: httpx.Response) -> Any:
    [cookie] = cookies_of(answer)
    return cookie


async def ask(client: httpx.AsyncClient, **headers: str) -> httpx.Response:
    return await client.post("/query", json={"sql": "select 1"}, headers=OWN | headers)


def callers(house: House) -> list[str]:
    return [query.record.caller for query in house.gateway.queries.by_id.values()]


async def test_a_key_becomes_a_session_that_no_script_can_read(house: House) -> None:
    async with house.client() as client:
        assert (await client.get(SESSION)).status_code == 401
        answer = await log_in(client, house.key().text)
        cookie = cookie_of(answer)
        assert (cookie.key, cookie["path"], cookie["samesite"]) == ("sluice_session", "/", "Strict")
        assert cookie["httponly"]
        assert not cookie["secure"]
        assert answer.json()["principal"] == "kim"
        expected = {
            "principal": "kim",
            "hasLogin": True,
            "expiresAt": None,
            "rights": ["filters", "replicas"],
        }
        assert (await client.get(SESSION)).json() == expected
        assert (await ask(client)).status_code == 200
    assert callers(house) == ["kim"]


async def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(house: House) -> None:
    async with house.client() as client:
        answer = await log_in(client, house.key().text, Origin="https://gateway.example")
        [cookie, *_] = cookies_of(answer)
        assert (cookie.key, bool(cookie["secure"])) == ("__Host-sluice_session", True)
        client.cookies.clear()
        sent = {"Cookie": f"{cookie.key}={cookie.value}"}
        assert (await client.get(SESSION, headers=sent)).json()["principal"] == "kim"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Sluice-Console": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "", "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "", "Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "", "Origin": "null"},
        {"Sec-Fetch-Site": "", "Origin": "http://["},
        {"Sec-Fetch-Site": "", "Origin": "https://a]b"},
    ],
)
async def test_no_other_page_can_act_for_the_user(house: House, headers: dict[str, str]) -> None:
    async with house.client() as client:
        await log_in(client, house.key().text)
        sent = {name: value for name, value in (OWN | headers).items() if value}
        for method, path in (("POST", "/query"), ("DELETE", SESSION), ("POST", SESSION)):
            answer = await client.request(method, path, json={"sql": "select 1"}, headers=sent)
            assert (answer.status_code, answer.json()["code"]) == (403, "CROSS_SITE_REQUEST")
    assert callers(house) == []


async def test_another_page_can_neither_read_nor_log_in(house: House) -> None:
    foreign = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    async with house.client() as client:
        assert (await log_in(client, house.key().text, **foreign)).status_code == 403
        await log_in(client, house.key().text)
        assert (await client.get("/query", headers=foreign)).status_code == 403
        # A link leads to a page, which the other page cannot read.
        opened = await client.get("/query", headers=foreign | {"Sec-Fetch-Mode": "navigate"})
        assert opened.status_code == 200


async def test_only_a_key_logs_in(house: House) -> None:
    async with house.client() as client:
        token = await log_in(client, "tess's")
        assert (token.status_code, token.json()["code"]) == (403, "LOGIN_NEEDS_KEY")
        wrong = await log_in(client, f"sluice_{'0' * 16}_{'A' * 43}")
        assert (wrong.status_code, wrong.json()["code"]) == (401, "API_KEY_INVALID")
        await log_in(client, house.key().text)
        # Otherwise a session could be made to last for ever.
        again = await client.post(SESSION, headers=OWN)
        assert (again.status_code, again.json()["code"]) == (403, "LOGIN_NEEDS_KEY")


async def test_wrong_keys_are_slowed_down(house: House) -> None:
    async with house.client(auth_failures_per_minute=3) as client:
        wrong = f"sluice_{'0' * 16}_{'A' * 43}"
        statuses = [(await log_in(client, wrong)).status_code for _ in range(5)]
        assert statuses[-1] == 429
        assert (await log_in(client, house.key().text)).status_code == 200


async def test_a_session_ends_by_itself(house: House) -> None:
    async with house.client() as client:
        await log_in(client, house.key().text)
        house.clock.advance(timedelta(milliseconds=12 * 3600 * 1000 + 1))
        answer = await client.get(SESSION)
        assert (answer.status_code, answer.json()["code"]) == (401, "KEY_SESSION_ENDED")


async def test_a_session_ends_with_its_key(house: House) -> None:
    short, revoked = house.key(hours=1), house.key()
    async with house.client() as client:
        await log_in(client, short.text)
        house.clock.advance(timedelta(milliseconds=3600 * 1000 + 1))
        assert (await client.get(SESSION)).status_code == 401
        await log_in(client, revoked.text)
        assert (await client.get(SESSION)).status_code == 200
        house.keys.revoke(revoked.key.key_id, "test")
        house.clock.advance(timedelta(milliseconds=5_001))
        answer = await client.get(SESSION)
        assert (answer.status_code, answer.json()["code"]) == (401, "API_KEY_REVOKED")


async def test_a_revocation_here_ends_the_sessions_at_once(house: House) -> None:
    key = house.key()
    async with house.client(admins=["tess"]) as client:
        await log_in(client, key.text)
        assert (await client.get(SESSION)).status_code == 200
        admin = {"Authorization": "Bearer tess's"}
        assert (await client.delete(f"/keys/{key.key.key_id}", headers=admin)).status_code == 200
        assert (await client.get(SESSION)).json()["code"] == "API_KEY_REVOKED"


@pytest.mark.parametrize("space", [b"\x85", b"\xa0", b"\x1f"])
async def test_a_name_that_resembles_the_cookie_is_another_one(house: House, space: bytes) -> None:
    async with house.client() as client:
        text = cookie_of(await log_in(client, house.key().text)).value
        client.cookies.clear()
        sent = {"Cookie": space + f"__Host-sluice_session={text}".encode()}
        assert (await client.get(SESSION, headers=sent)).status_code == 401  # type: ignore[arg-type]


async def test_a_user_can_log_out(house: House) -> None:
    async with house.client() as client:
        text = cookie_of(await log_in(client, house.key().text)).value
        answer = await client.delete(SESSION, headers=OWN)
        assert (answer.status_code, cookie_of(answer).value) == (204, "")
        kept = {"Cookie": f"sluice_session={text}"}
        assert (await client.get(SESSION, headers=kept)).json()["code"] == "KEY_SESSION_ENDED"


async def test_no_other_caller_can_end_a_session_by_its_cookie(house: House) -> None:
    async with house.client() as client:
        text = cookie_of(await log_in(client, house.key().text)).value
        half = f"{text[:-10]}{'A' * 10}"
        client.cookies.clear()
        sent = OWN | {"Cookie": f"sluice_session={half}", "Authorization": "Bearer tess's"}
        assert (await client.delete(SESSION, headers=sent)).status_code == 204
        kept = {"Cookie": f"sluice_session={text}"}
        assert (await client.get(SESSION, headers=kept)).status_code == 200


@pytest.mark.parametrize(
    "text", ["", "x", '"', "sluice_0_1", f"sluice_{'0' * 16}_{'A' * 43}", "a" * 9_000, "é;="]
)
async def test_a_cookie_that_is_no_session_is_nobody(house: House, text: str) -> None:
    async with house.client() as client:
        sent = {"Cookie": f"sluice_session={text}".encode()}
        assert (await client.get("/query", headers=sent)).status_code == 401  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other", ['a={"b": 1}', "version=1", "a=é", "a=b c", "a b=1", 'a="b', "alone", "=a", "a=" + "b" * 9_000]
)
async def test_cookies_of_other_programs_do_not_matter(house: House, other: str) -> None:
    async with house.client() as client:
        own = f"sluice_session={cookie_of(await log_in(client, house.key().text)).value}"
        for cookies in (f"{other}; {own}", f"{own}; {other}"):
            sent = {"Cookie": cookies.encode()}
            assert (await client.get(SESSION, headers=sent)).status_code == 200  # type: ignore[arg-type]


async def test_a_second_cookie_from_another_host_logs_nobody_in(house: House) -> None:
    async with house.client() as client:
        kim, eve = [cookie_of(await log_in(client, house.key(name).text)).value for name in ("kim", "eve")]
        for first, second in ((kim, eve), (eve, kim)):
            sent = {"Cookie": f"sluice_session={first}; sluice_session={second}"}
            assert (await client.get(SESSION, headers=sent)).status_code == 401


async def test_a_logout_with_tls_leaves_no_cookie_from_before(house: House) -> None:
    async with house.client() as client:
        key = house.key().text
        plain = cookie_of(await log_in(client, key)).value
        safe = cookies_of(await log_in(client, key, Origin="https://gateway.example"))[0].value
        sent = {"Cookie": f"sluice_session={plain}; __Host-sluice_session={safe}"}
        out = await client.delete(SESSION, headers=OWN | sent | {"Origin": "https://gateway.example"})
        gone = {cookie.key for cookie in cookies_of(out) if cookie["max-age"] == "0"}
        assert gone == {"sluice_session", "__Host-sluice_session"}


async def test_a_credential_in_the_head_counts_more_than_the_cookie(house: House) -> None:
    async with house.client() as client:
        await log_in(client, house.key().text)
        # A program sends no header of the console.
        sent = await client.post(
            "/query", json={"sql": "select 1"}, headers={"Authorization": "Bearer tess's"}
        )
        assert sent.status_code == 200
    assert callers(house) == ["tess"]


async def test_a_key_has_so_many_sessions_and_the_oldest_ends(house: House) -> None:
    key = house.key()
    async with house.client() as client:
        first = cookie_of(await log_in(client, key.text)).value
        for _ in range(MOST_OF_A_KEY):
            house.clock.advance(timedelta(milliseconds=1))
            house.keys.sessions.open(key.key.key_id)
        house.clock.advance(timedelta(milliseconds=5_001))
        kept = {"Cookie": f"sluice_session={first}"}
        assert (await client.get(SESSION, headers=kept)).status_code == 401


async def test_logins_are_audited_without_their_secrets(house: House) -> None:
    key = house.key()
    async with house.client() as client:
        text = cookie_of(await log_in(client, key.text)).value
        await client.delete(SESSION, headers=OWN)
    login, logout = house.gateway.trail.events
    assert (login.action, logout.action) == ("LOGIN", "LOGOUT")
    for event in (login, logout):
        assert event.origin.key_id == key.key.key_id
        assert event.details.target == text.split("_")[1]
        assert text.split("_")[2] not in repr(event)


async def test_without_authentication_nobody_logs_in(running: Running) -> None:
    async with running(Settings()) as client:
        answer = {
            "principal": "anonymous",
            "hasLogin": False,
            "expiresAt": None,
            "rights": ["filters", "replicas"],
        }
        assert (await client.get(SESSION)).json() == answer
        assert (await client.post(SESSION, headers=OWN)).json() == answer


async def test_while_the_store_is_down_known_sessions_go_on(house: House) -> None:
    async with house.client() as client:
        await log_in(client, house.key().text)
        assert (await client.get(SESSION)).status_code == 200
        house.store.is_down = True
        house.clock.advance(timedelta(milliseconds=6_000))
        assert (await client.get(SESSION)).status_code == 200
        house.clock.advance(timedelta(hours=1))
        answer = await client.get(SESSION)
        assert (answer.status_code, answer.json()["code"]) == (503, "AUTHENTICATION_DOWN")


@pytest.mark.parametrize("without", ["console", "api_keys"])
async def test_without_the_console_or_keys_a_cookie_is_nobody(house: House, without: str) -> None:
    async with house.client() as client:
        text = cookie_of(await log_in(client, house.key().text)).value
    async with house.client(**{without: False}) as client:
        sent = {"Cookie": f"sluice_session={text}"}
        for method in ("GET", "POST"):
            for own in (OWN, {}):
                answer = await client.request(method, "/query", headers=own | sent)
                assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
