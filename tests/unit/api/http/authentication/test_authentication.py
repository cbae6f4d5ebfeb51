"""Tests which credentials are accepted, and how others are answered."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.bootstrap.wiring.build_authentication import build_verifier
from api.http.app import create_app
from api.http.authentication.authenticator import Sent
from service.authentication.manage_keys import KeyRequest
from service.model.authentication.api_keys import ApiKey, MadeKey
from tests.fakes.api_keys import FakeApiKeyStore, fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.fakes.oidc_issuer import AUDIENCE, OidcIssuer, oidc_issuer
from tests.unit.api.conftest import client_of
from tests.unit.api.http.authentication.hostile_credentials import hostile_headers

pytestmark = pytest.mark.anyio

TOKENS = {"tess": hashlib.sha256(b"tess's").hexdigest()}


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


class House:
    """A gateway with keys in memory, and an issuer."""

    def __init__(self, issuer: OidcIssuer, clock: FakeClock) -> None:
        self.issuer = issuer
        self.clock = clock
        self.gateway = FakeGateway()
        self.store = FakeApiKeyStore(clock)
        self.keys = fake_api_keys(clock, self.store)
        self.gateway._api_keys = self.keys

    def key(self, name: str = "kim", *roles: str, days: int | None = None) -> MadeKey:
        lifetime = None if days is None else timedelta(days=days)
        return self.keys.create(KeyRequest(name, frozenset(roles), lifetime=lifetime), by="test")

    @asynccontextmanager
    async def client(self, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
        issuers = {"corp": {"issuer": self.issuer.url, "audiences": [AUDIENCE], "roles_claim": "roles"}}
        given: dict[str, Any] = {"api_tokens": TOKENS, "api_keys": True, "oidc_issuers": issuers} | settings
        all_settings = Settings(**given)
        app = create_app(
            all_settings, lambda: self.gateway, verifier=build_verifier(all_settings), clock=self.clock
        )
        async with client_of(app) as client:
            yield client

    def callers(self) -> list[str]:
        return [query.record.caller for query in self.gateway.queries.by_id.values()]


@pytest.fixture
def house() -> Iterator[House]:
    with oidc_issuer() as issuer:
        yield House(issuer, FakeClock())


async def ask(client: httpx.AsyncClient, headers: dict[str, str] | None = None) -> httpx.Response:
    return await client.post("/query", json={"sql": "select 1"}, headers=headers)


async def code(client: httpx.AsyncClient, text: str) -> tuple[int, str]:
    response = await ask(client, bearer(text))
    return response.status_code, "" if response.is_success else response.json()["code"]


async def test_tokens_keys_and_access_tokens_each_name_their_caller(house: House) -> None:
    async with house.client() as client:
        for text in ("tess's", house.key().text, house.issuer.token()):
            assert (await ask(client, bearer(text))).status_code == 200
        metrics = (await client.get("/metrics", headers=bearer("tess's"))).text
    assert house.callers() == ["tess", "kim", "corp:ada"]
    assert 'sluice_authentications_total{kind="key"} 1.0' in metrics
    assert 'sluice_authentications_total{kind="oidc"} 1.0' in metrics


async def test_whoever_sends_nothing_is_asked_for_it_and_reported_for_no_error(house: House) -> None:
    async with house.client() as client:
        response = await ask(client)
    assert (response.status_code, response.json()["code"]) == (401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == 'Bearer realm="sluice"'


async def test_each_kind_of_failure_has_its_code(house: House) -> None:
    key, other = house.key(days=1), house.key()
    async with house.client(auth_failures_per_minute=1000) as client:
        house.keys.revoke(other.key.key_id, "test")
        refused = {
            "unknown": "UNAUTHENTICATED",
            "sluice_": "UNAUTHENTICATED",
            f"sluice_{'0' * 16}_{'A' * 43}": "API_KEY_INVALID",
            key.text[:-3] + "AAA": "API_KEY_INVALID",
            other.text: "API_KEY_REVOKED",
            house.issuer.token(aud="x"): "ACCESS_TOKEN_INVALID",
            house.issuer.token(exp=1): "ACCESS_TOKEN_EXPIRED",
        }
        for text, expected in refused.items():
            response = await ask(client, bearer(text))
            assert (response.status_code, response.json()["code"]) == (401, expected)
            assert response.headers["www-authenticate"] == 'Bearer realm="sluice", error="invalid_token"'
        assert await code(client, key.text) == (200, "")
        house.clock.advance(timedelta(days=1))
        assert await code(client, key.text) == (401, "API_KEY_EXPIRED")


async def test_a_revocation_elsewhere_counts_within_seconds_and_one_here_at_once(house: House) -> None:
    here, elsewhere, admin = house.key(), house.key(), house.key("boss", "admin")
    async with house.client() as client:
        assert await code(client, here.text) == await code(client, elsewhere.text) == (200, "")
        revoked = await client.delete(f"/keys/{here.key.key_id}", headers=bearer(admin.text))
        assert (revoked.status_code, revoked.json()["revokedBy"]) == (200, "boss")
        assert await code(client, here.text) == (401, "API_KEY_REVOKED")
        house.store.revoke(elsewhere.key.key_id, "other replica")
        assert await code(client, elsewhere.text) == (200, "")
        house.clock.advance(timedelta(seconds=5))
        assert await code(client, elsewhere.text) == (401, "API_KEY_REVOKED")


async def test_known_keys_go_on_while_the_store_is_down_and_others_are_rejected(house: House) -> None:
    known, new = house.key(), house.key()
    async with house.client(api_key_outage_s=60) as client:
        assert await code(client, known.text) == (200, "")
        house.store.is_down = True
        house.clock.advance(timedelta(seconds=10))
        assert await code(client, known.text) == (200, "")
        assert await code(client, new.text) == (503, "AUTHENTICATION_DOWN")
        assert (await ask(client, bearer(new.text))).headers["retry-after"]
        house.clock.advance(timedelta(seconds=61))
        assert await code(client, known.text) == (503, "AUTHENTICATION_DOWN")
        house.store.is_down = False
        house.clock.advance(timedelta(seconds=2))
        assert await code(client, known.text) == await code(client, new.text) == (200, "")


async def test_many_who_ask_at_once_make_few_questions(house: House) -> None:
    keys = [house.key(f"kim{number}") for number in range(100)]
    async with house.client() as client:
        answers = await asyncio.gather(*(ask(client, bearer(key.text)) for key in keys))
        assert {answer.status_code for answer in answers} == {200}
        assert sorted(house.callers()) == sorted(f"kim{number}" for number in range(100))
        assert len(house.store.asked) < 20
        before = len(house.store.asked)
        for key in keys[:20]:
            assert await code(client, key.text) == (200, "")
        assert len(house.store.asked) == before


async def test_the_last_use_of_a_key_is_written_in_time_and_not_with_each_request(house: House) -> None:
    key = house.key()
    async with house.client() as client:
        for _ in range(5):
            await ask(client, bearer(key.text))
    assert house.store.find([key.key.key_id])[key.key.key_id].last_used_at is None
    house.keys.uses.flush()
    assert house.store.find([key.key.key_id])[key.key.key_id].last_used_at == house.clock.now()


async def test_a_hundred_unknown_keys_of_an_issuer_cause_one_fetch(house: House) -> None:
    async with house.client(auth_failures_per_minute=1000) as client:
        assert await code(client, house.issuer.token()) == (200, "")
        assert house.issuer.fetches() == 1
        house.clock.advance(timedelta(seconds=5))
        texts = [house.issuer.token(headers={"kid": f"made up {number}"}) for number in range(100)]
        answers = await asyncio.gather(*(ask(client, bearer(text)) for text in texts))
        assert {answer.json()["code"] for answer in answers} == {"ACCESS_TOKEN_INVALID"}
        assert house.issuer.fetches() == 2
        for text in texts:
            assert (await ask(client, bearer(text))).status_code == 401
        assert house.issuer.fetches() == 2


async def test_a_new_key_of_an_issuer_is_taken_at_once_and_an_old_one_while_it_is_published(
    house: House,
) -> None:
    async with house.client() as client:
        old = house.issuer.token()
        assert await code(client, old) == (200, "")
        house.clock.advance(timedelta(seconds=5))
        house.issuer.add_key("two", is_elliptic=True)
        assert await code(client, house.issuer.token("two")) == (200, "")
        assert await code(client, old) == (200, "")
        house.clock.advance(timedelta(seconds=5))
        del house.issuer.keys["one"]
        house.issuer.add_key("three")
        assert await code(client, house.issuer.token("three")) == (200, "")
        assert await code(client, old) == (401, "ACCESS_TOKEN_INVALID")


async def test_a_key_that_was_withdrawn_while_no_token_came_is_refused_at_once(house: House) -> None:
    async with house.client() as client:
        stolen = house.issuer.token()
        assert await code(client, stolen) == (200, "")
        del house.issuer.keys["one"]
        house.issuer.add_key("two")
        house.clock.advance(timedelta(hours=2))
        assert await code(client, stolen) == (401, "ACCESS_TOKEN_INVALID")
        assert await code(client, house.issuer.token("two")) == (200, "")


async def test_an_issuer_that_withdraws_all_its_keys_has_none(house: House) -> None:
    async with house.client() as client:
        stolen = house.issuer.token()
        assert await code(client, stolen) == (200, "")
        house.issuer.keys.clear()
        house.clock.advance(timedelta(hours=2))
        assert await code(client, stolen) == (503, "AUTHENTICATION_DOWN")


async def test_an_issuer_that_is_down_locks_nobody_with_a_known_key_out(house: House) -> None:
    async with house.client(oidc_outage_s=3600) as client:
        assert await code(client, house.issuer.token()) == (200, "")
        house.issuer.is_down = True
        house.clock.advance(timedelta(minutes=30))
        for _ in range(3):
            assert await code(client, house.issuer.token()) == (200, "")
            house.clock.advance(timedelta(seconds=10))
        unknown = house.issuer.token(headers={"kid": "unknown"})
        assert await code(client, unknown) == (503, "AUTHENTICATION_DOWN")
        house.clock.advance(timedelta(hours=1))
        assert await code(client, house.issuer.token()) == (503, "AUTHENTICATION_DOWN")
        house.issuer.is_down = False
        house.clock.advance(timedelta(seconds=5))
        assert await code(client, house.issuer.token()) == (200, "")


async def test_whoever_guesses_is_slowed_and_nobody_else_behind_the_same_proxy(house: House) -> None:
    known, new = house.key(), house.key("new")
    async with house.client(auth_failures_per_minute=6) as client:
        assert await code(client, "tess's") == (200, "")
        for number in range(6):
            assert await code(client, f"guess {number}") == (401, "UNAUTHENTICATED")
        slowed = await ask(client, bearer("guess"))
        assert (slowed.status_code, slowed.json()["code"]) == (429, "TOO_MANY_FAILURES")
        assert 1 <= int(slowed.headers["retry-after"]) <= 20
        for text in ("tess's", known.text, new.text, house.issuer.token()):
            assert await code(client, text) == (200, "")
        assert await code(client, known.text[:-3] + "AAA") == (429, "TOO_MANY_FAILURES")
        metrics = (await client.get("/metrics", headers=bearer("tess's"))).text
        assert "sluice_authentication_throttled_total 2.0" in metrics
        house.clock.advance(timedelta(minutes=2))
        assert await code(client, "guess") == (401, "UNAUTHENTICATED")


async def test_a_right_guess_is_not_seen_while_too_many_were_wrong(house: House) -> None:
    async with house.client(auth_failures_per_minute=3) as client:
        for number in range(4):
            await code(client, f"guess {number}")
        assert await code(client, "tess's") == (429, "TOO_MANY_FAILURES")
        house.clock.advance(timedelta(minutes=2))
        assert await code(client, "tess's") == (200, "")


async def test_whoever_sends_nothing_guesses_nothing(house: House) -> None:
    async with house.client(auth_failures_per_minute=1) as client:
        for _ in range(10):
            assert (await ask(client)).status_code == 401
        assert await code(client, "tess's") == (200, "")


async def test_two_credentials_are_none(house: House) -> None:
    async with house.client() as client:
        both = [("Authorization", "Bearer tess's"), ("Authorization", "Bearer other")]
        response = await client.post("/query", json={"sql": "select 1"}, headers=both)
    assert response.status_code == 401


async def test_keys_are_made_listed_and_revoked_by_administrators_alone(house: House) -> None:
    admin, plain = house.key("boss", "admin"), house.key()
    async with house.client(admins="tess,corp:root") as client:
        for by in (bearer(admin.text), bearer("tess's"), bearer(house.issuer.token(sub="root"))):
            made = await client.post(
                "/keys", json={"principal": "new", "roles": ["reader"], "expiresInDays": 7}, headers=by
            )
            assert made.status_code == 201
            assert made.headers["cache-control"] == "no-store"
            text = made.json()["key"]
            assert await code(client, text) == (200, "")
            listed = await client.get("/keys", headers=by)
            assert made.json()["keyId"] in {key["keyId"] for key in listed.json()["keys"]}
            assert text.split("_", 2)[2] not in listed.text
            gone = await client.delete(f"/keys/{made.json()['keyId']}", headers=by)
            assert gone.json()["revokedAt"] is not None
        missing = await client.delete(f"/keys/{'0' * 16}", headers=bearer("tess's"))
        assert (missing.status_code, missing.json()["code"]) == (404, "API_KEY_NOT_FOUND")
        # Roles from the issuer do not make an administrator.
        for by in (bearer(plain.text), bearer(house.issuer.token(roles=["admin"]))):
            answers = [
                await client.post("/keys", json={"principal": "new"}, headers=by),
                await client.get("/keys", headers=by),
                await client.delete(f"/keys/{plain.key.key_id}", headers=by),
            ]
            assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {
                (403, "ADMIN_REQUIRED")
            }


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"principal": ""},
        {"principal": "anonymous"},
        {"principal": "a\nb"},
        {"principal": "a" * 256},
        {"principal": "a", "roles": ["not a role"]},
        {"principal": "a", "roles": ["r"] * 51},
        {"principal": "a", "expiresInDays": 0},
        {"principal": "a", "expiresInDays": 10**9},
        {"principal": "a", "key": "sluice_mine"},
    ],
)
async def test_a_key_that_cannot_be_is_not_made(house: House, body: dict[str, object]) -> None:
    async with house.client(admins=["tess"]) as client:
        answer = await client.post("/keys", json=body, headers=bearer("tess's"))
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
    assert house.store.newest(10) == []


async def test_without_the_setting_there_are_no_keys(house: House) -> None:
    async with house.client(api_keys=False, admins=["tess"]) as client:
        assert (await client.get("/keys", headers=bearer("tess's"))).status_code == 404
        assert await code(client, house.key().text) == (401, "UNAUTHENTICATED")


async def test_hostile_credentials_are_refused_and_never_shown(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    key = house.key()
    sent = hostile_headers(house.issuer, key)
    assert len(sent) >= 100
    async with house.client(auth_failures_per_minute=10) as client:
        configure_logging(LogLevel.INFO, LogFormat.JSON)
        assert await code(client, "tess's") == (200, "")
        capsys.readouterr()
        answers = [await client.get("/tables", headers=headers) for headers in sent]
        log = capsys.readouterr().err
        shown = [answer.text + str(answer.headers) for answer in answers] + [
            (await client.get("/metrics", headers=bearer("tess's"))).text
        ]
    assert {answer.status_code for answer in answers} <= {401, 429}
    assert all(answer.headers["content-type"] == "application/problem+json" for answer in answers)
    assert house.callers() == ["tess"]
    events = [
        part
        for part in map(json.loads, filter(None, log.split("\n")))
        if part["event"] == "authentication_failed"
    ]
    assert len(events) == len(sent)
    assert {"peer", "kind", "code", "reason", "key_id", "is_throttled"} <= set(events[0])
    for headers in sent:
        for name, value in headers:
            secret = value.split(b" ", 1)[-1].strip().decode("latin-1")
            # The address of a peer is not secret, and is in the log.
            if len(secret) >= 8 and name != b"X-Forwarded-For":
                assert not any(secret in text for text in (*shown, log))
    assert key.text.split("_", 2)[2] not in log


def test_a_request_shows_no_credential_in_its_representation() -> None:
    assert "tess's" not in repr(Sent("127.0.0.1", ["Bearer tess's"]))


def test_a_key_has_no_hash_in_its_representation() -> None:
    now = FakeClock().now()
    assert "secret" not in repr(ApiKey("a", b"hash", "ada", frozenset(), "", now, "ops"))
