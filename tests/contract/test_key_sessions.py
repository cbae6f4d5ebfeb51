"""Checks the promises of a store of browsers' sessions on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text

from service.adapters.api_keys.postgres_api_keys import PostgresApiKeys
from service.adapters.api_keys.postgres_key_sessions import PostgresKeySessions
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.api_keys import ApiKey, made_key
from service.model.authentication.key_sessions import KeySession
from service.ports.stores.api_key_store import ApiKeyStore
from service.ports.stores.key_session_store import KeySessionStore
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.api_keys import FakeApiKeyStore, FakeKeySessionStore
from tests.fakes.clock import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Stores:
    keys: ApiKeyStore
    sessions: KeySessionStore

    def key(self, expires_at: datetime | None = None) -> ApiKey:
        full = ApiKey("", b"", "ada", frozenset({"reader"}), "", NOON, "ops", expires_at)
        made = made_key(full).key
        self.keys.add(made)
        return made


@pytest.fixture(params=["fake", "postgres"])
def stores(request: pytest.FixtureRequest) -> Iterator[Stores]:
    if request.param == "fake":
        fake = FakeApiKeyStore(FakeClock())
        yield Stores(fake, FakeKeySessionStore(fake))
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE api_keys, key_sessions"))
    engine.dispose()
    keys, sessions = PostgresApiKeys(url), PostgresKeySessions(url)
    yield Stores(keys, sessions)
    keys.close()
    sessions.close()


def session(key: ApiKey, begins: datetime = NOON, lasts: timedelta = HOUR) -> KeySession:
    made = made_key(key).key
    return KeySession(made.key_id, made.secret_sha256, key.key_id, begins, begins + lasts)


def test_a_session_is_its_key_with_a_secret_and_an_end_of_its_own(stores: Stores) -> None:
    key = stores.key()
    made, other = session(key), session(key)
    stores.sessions.add(made, 10)
    stores.sessions.add(other, 10)
    assert stores.sessions.find([made.session_id, "0" * 16]) == {
        made.session_id: replace(key, secret_sha256=made.secret_sha256, expires_at=made.expires_at)
    }
    assert stores.sessions.find([]) == {}


def test_a_session_expires_with_its_key(stores: Stores) -> None:
    key = stores.key(NOON + HOUR / 2)
    made = session(key)
    stores.sessions.add(made, 10)
    assert stores.sessions.find([made.session_id])[made.session_id].expires_at == key.expires_at


def test_a_session_shows_that_its_key_was_revoked(stores: Stores) -> None:
    key = stores.key()
    made = session(key)
    stores.sessions.add(made, 10)
    stores.keys.revoke(key.key_id, "ops")
    assert stores.sessions.find([made.session_id])[made.session_id].revoked_at is not None


def test_a_session_without_a_key_is_none(stores: Stores) -> None:
    made = replace(session(stores.key()), key_id="0" * 16)
    stores.sessions.add(made, 10)
    assert stores.sessions.find([made.session_id]) == {}


def test_an_ended_session_is_gone(stores: Stores) -> None:
    made = session(stores.key())
    stores.sessions.add(made, 10)
    stores.sessions.end(made.session_id)
    stores.sessions.end(made.session_id)
    assert stores.sessions.find([made.session_id]) == {}


def test_a_new_session_ends_expired_ones_and_the_oldest_of_its_key(stores: Stores) -> None:
    key, other = stores.key(), stores.key()
    expired, of_other = session(key, NOON - 2 * HOUR), session(other)
    old, middle, new = (session(key, NOON + timedelta(minutes=minute)) for minute in range(3))
    for each in (expired, of_other, old, middle, new):
        stores.sessions.add(each, 2)
    all_of_them = [each.session_id for each in (expired, of_other, old, middle, new)]
    assert stores.sessions.find(all_of_them).keys() == {each.session_id for each in (of_other, middle, new)}


def test_a_store_that_is_down_is_named() -> None:
    sessions = PostgresKeySessions(NOBODY_THERE)
    made = KeySession("a", b"", "b", NOON, NOON)
    asks: list[Callable[[], object]] = [
        lambda: sessions.add(made, 1),
        lambda: sessions.find(["a"]),
        lambda: sessions.end("a"),
    ]
    try:
        for ask in asks:
            with pytest.raises(MetricsStoreDown):
                ask()
    finally:
        sessions.close()
