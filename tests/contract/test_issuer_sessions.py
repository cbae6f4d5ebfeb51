"""Checks the promises of a store of issuers' sessions on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text

from service.adapters.api_keys.postgres_issuer_sessions import PostgresIssuerSessions
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.api_keys import ApiKey, made_key
from service.model.authentication.issuer_sessions import IssuerSession, LoggedIn
from service.ports.stores.issuer_session_store import IssuerSessionStore
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.issuer_sessions import FakeIssuerSessionStore

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(params=["fake", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[IssuerSessionStore]:
    if request.param == "fake":
        yield FakeIssuerSessionStore()
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE issuer_sessions"))
    engine.dispose()
    sessions = PostgresIssuerSessions(url)
    yield sessions
    sessions.close()


def session(name: str = "ada", begins: datetime = NOON) -> IssuerSession:
    made = made_key(ApiKey("", b"", "", frozenset(), "", NOON, "")).key
    roles = frozenset({"reader", "ü 'of' a test"})
    user = LoggedIn("corp", "https://corp.example", f"id of {name}", f"corp:{name}", roles, begins + 9 * HOUR)
    return IssuerSession(made.key_id, made.secret_sha256, user, begins, begins + HOUR)


def test_a_session_is_found_as_it_was_stored(store: IssuerSessionStore) -> None:
    made, other = session(), session("eve")
    store.add(made, 10)
    store.add(other, 10)
    assert store.find([made.session_id, "0" * 16]) == {made.session_id: made}
    assert store.find([]) == {}


def test_an_ended_session_is_gone(store: IssuerSessionStore) -> None:
    made = session()
    store.add(made, 10)
    store.end(made.session_id)
    store.end(made.session_id)
    assert store.find([made.session_id]) == {}


def test_a_new_session_ends_expired_ones_and_the_oldest_of_its_user(store: IssuerSessionStore) -> None:
    expired, of_other = session(begins=NOON - 2 * HOUR), session("eve")
    old, middle, new = (session(begins=NOON + timedelta(minutes=minute)) for minute in range(3))
    for each in (expired, of_other, old, middle, new):
        store.add(each, 2)
    all_of_them = [each.session_id for each in (expired, of_other, old, middle, new)]
    assert store.find(all_of_them).keys() == {each.session_id for each in (of_other, middle, new)}


def test_a_store_that_is_down_is_named() -> None:
    sessions = PostgresIssuerSessions(NOBODY_THERE)
    asks: list[Callable[[], object]] = [
        lambda: sessions.add(session(), 1),
        lambda: sessions.find(["a"]),
        lambda: sessions.end("a"),
    ]
    try:
        for ask in asks:
            with pytest.raises(MetricsStoreDown):
                ask()
    finally:
        sessions.close()
