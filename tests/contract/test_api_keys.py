"""Checks the promises of a store of API keys on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text

from service.adapters.api_keys.postgres_api_keys import PostgresApiKeys
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.api_keys import ApiKey, made_key
from service.ports.stores.api_key_store import ApiKeyStore
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.api_keys import FakeApiKeyStore
from tests.fakes.clock import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["fake", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[ApiKeyStore]:
    if request.param == "fake":
        yield FakeApiKeyStore(FakeClock())
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE api_keys"))
    engine.dispose()
    keys = PostgresApiKeys(url)
    yield keys
    keys.close()


def key(created_at: datetime = NOON, **changed: object) -> ApiKey:
    full = ApiKey("", b"", "ada", frozenset({"admin", "reader"}), "ü 'of' a test", created_at, "ops")
    return replace(made_key(full).key, **changed)  # type: ignore[arg-type]


def test_a_key_is_found_as_it_was_made(store: ApiKeyStore) -> None:
    made = key(expires_at=NOON + timedelta(days=1))
    store.add(made)
    store.add(key())
    assert store.find([made.key_id, "0" * 16]) == {made.key_id: made}
    assert store.find([]) == {}


def test_the_newest_come_first(store: ApiKeyStore) -> None:
    old, new = key(), key(NOON + timedelta(hours=1))
    store.add(old)
    store.add(new)
    assert store.newest(10) == [new, old]
    assert store.newest(1) == [new]


def test_the_keys_of_a_principal_are_those_that_were_not_revoked(store: ApiKeyStore) -> None:
    soon, later = key(expires_at=NOON), key(expires_at=NOON + timedelta(days=1))
    never, revoked, other = key(), key(), key(name="lou")
    for each in (soon, later, never, revoked, other):
        store.add(each)
    store.revoke(revoked.key_id, "ops")
    assert store.of_principal("ada") == [never, later, soon]
    assert store.of_principal("nobody") == []


def test_a_key_is_revoked_once(store: ApiKeyStore) -> None:
    made = key()
    store.add(made)
    revoked = store.revoke(made.key_id, "ops")
    assert revoked is not None
    assert revoked.revoked_at is not None
    assert replace(revoked, revoked_at=None, revoked_by=None) == made
    assert store.revoke(made.key_id, "somebody else") == revoked
    assert store.find([made.key_id]) == {made.key_id: revoked}
    assert store.revoke("0" * 16, "ops") is None


def test_the_latest_use_is_kept(store: ApiKeyStore) -> None:
    made, unused = key(), key()
    store.add(made)
    store.add(unused)
    store.note_uses({made.key_id: NOON, "0" * 16: NOON})
    store.note_uses({made.key_id: NOON - timedelta(hours=1)})
    found = store.find([made.key_id, unused.key_id])
    assert found[made.key_id].last_used_at == NOON
    assert found[unused.key_id].last_used_at is None


def test_a_store_that_is_down_is_named() -> None:
    keys = PostgresApiKeys(NOBODY_THERE)
    asks: list[Callable[[], object]] = [
        lambda: keys.add(key()),
        lambda: keys.find(["a"]),
        lambda: keys.newest(1),
        lambda: keys.revoke("a", "ops"),
        lambda: keys.note_uses({"a": NOON}),
    ]
    try:
        for ask in asks:
            with pytest.raises(MetricsStoreDown) as caught:
                ask()
            assert "127.0.0.1" not in caught.value.detail
    finally:
        keys.close()
