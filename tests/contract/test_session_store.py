"""Checks the promises of a store of sessions on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import create_engine, text

from service.adapters.clock import SystemClock
from service.adapters.sessions.postgres_sessions import PostgresSessions, SessionBounds
from service.errors.session_errors import TooManySessions
from service.errors.statement_errors import SqlInvalid
from service.errors.unavailable import MetricsStoreDown
from service.model.sessions.sessions import MadeView, SessionValues, SessionView
from service.ports.stores.session_store import SessionStore
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.sessions import FakeSessionStore

VALUES = SessionValues(
    "lake",
    "shop",
    {"spark.sql.ansi.enabled": "false"},
    (SessionView("a", "SELECT 'ü' AS \"x\"", "lake", "shop"), SessionView("b", "SELECT * FROM a")),
    (MadeView(("lake", "shop", "ü"), "1f"),),
)
Opened = Callable[..., SessionStore]


@pytest.fixture(params=["fake", "postgres"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opened]:
    """Opens a store with some bounds; the stores of one test have the same sessions on PostgreSQL."""
    if request.param == "fake":
        yield lambda **bounds: FakeSessionStore(SystemClock(), **bounds)
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE sessions"))
    engine.dispose()
    stores: list[PostgresSessions] = []

    def open_one(**bounds: object) -> SessionStore:
        stores.append(PostgresSessions(url, replace(SessionBounds(), **bounds)))  # type: ignore[arg-type]
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


def test_a_session_is_used_as_it_was_made(opened: Opened) -> None:
    store = opened()
    made = store.add("ada", VALUES)
    assert (made.caller, made.values) == ("ada", VALUES)
    assert made.expires_at - made.last_used_at == timedelta(hours=1)
    used = store.use(made.session_id, "ada")
    assert used is not None
    assert (used.session_id, used.values, used.created_at) == (made.session_id, VALUES, made.created_at)
    assert used.last_used_at >= made.last_used_at
    assert store.add("ada", SessionValues()).values == SessionValues()


def test_a_session_belongs_to_its_caller(opened: Opened) -> None:
    store = opened()
    made = store.add("ada", VALUES)
    assert store.use(made.session_id, "bob") is None
    assert store.change(made.session_id, "bob", lambda _: SessionValues()) is None
    assert not store.remove(made.session_id, "bob")
    assert store.use(UUID(int=0), "ada") is None
    found = store.use(made.session_id, "ada")
    assert found is not None
    assert found.values == VALUES


def test_values_are_changed_one_change_after_the_other(opened: Opened) -> None:
    store = opened()
    session_id = store.add("ada", SessionValues()).session_id

    def add(number: int) -> None:
        def change(values: SessionValues) -> SessionValues:
            return replace(values, views=(*values.views, SessionView(f"v{number}", "SELECT 1")))

        assert store.change(session_id, "ada", change) is not None

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(12)))
    found = store.use(session_id, "ada")
    assert found is not None
    assert sorted(view.name for view in found.values.views) == sorted(f"v{number}" for number in range(12))


def test_a_change_that_fails_changes_nothing(opened: Opened) -> None:
    store = opened()
    session_id = store.add("ada", VALUES).session_id

    def fail(_: SessionValues) -> SessionValues:
        raise SqlInvalid("no")

    with pytest.raises(SqlInvalid, match="no"):
        store.change(session_id, "ada", fail)
    found = store.use(session_id, "ada")
    assert found is not None
    assert found.values == VALUES


def test_an_ended_session_is_gone(opened: Opened) -> None:
    store = opened()
    session_id = store.add("ada", VALUES).session_id
    assert store.remove(session_id, "ada")
    assert not store.remove(session_id, "ada")
    assert store.use(session_id, "ada") is None


def test_sessions_are_bounded_for_each_caller_and_for_all(opened: Opened) -> None:
    store = opened(max_of_caller=2, max_sessions=3)
    first = store.add("ada", SessionValues())
    store.add("ada", SessionValues())
    with pytest.raises(TooManySessions):
        store.add("ada", SessionValues())
    store.add("bob", SessionValues())
    with pytest.raises(TooManySessions):
        store.add("cleo", SessionValues())
    store.remove(first.session_id, "ada")
    store.add("cleo", SessionValues())


def test_a_session_that_is_not_used_does_not_exist(opened: Opened) -> None:
    # With no time to live, a session is too old as soon as it is made.
    store = opened(time_to_live=timedelta(0), max_of_caller=1)
    made = store.add("ada", VALUES)
    assert store.use(made.session_id, "ada") is None
    assert store.change(made.session_id, "ada", lambda values: values) is None
    assert not store.remove(made.session_id, "ada")
    store.add("ada", VALUES)
    assert store.forget_unused() == 2
    assert store.forget_unused() == 0


def test_sessions_in_use_are_not_forgotten(opened: Opened) -> None:
    store = opened()
    made = store.add("ada", VALUES)
    assert store.forget_unused() == 0
    assert store.use(made.session_id, "ada") is not None


def test_two_replicas_share_sessions_and_their_bounds(request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("metrics_url")
    stores = [PostgresSessions(url, SessionBounds(max_of_caller=5)) for _ in range(2)]
    try:
        session_id = stores[0].add("two", VALUES).session_id
        found = stores[1].use(session_id, "two")
        assert found is not None
        assert found.values == VALUES

        def add(number: int) -> bool:
            try:
                stores[number % 2].add("two", SessionValues())
            except TooManySessions:
                return False
            return True

        with ThreadPoolExecutor(4) as threads:
            assert sum(threads.map(add, range(12))) == 4
    finally:
        for store in stores:
            store.close()


def test_a_store_that_is_down_is_named() -> None:
    store = PostgresSessions(NOBODY_THERE)
    asks: list[Callable[[], object]] = [
        lambda: store.add("ada", SessionValues()),
        lambda: store.use(UUID(int=0), "ada"),
        lambda: store.change(UUID(int=0), "ada", lambda values: values),
        lambda: store.remove(UUID(int=0), "ada"),
        store.forget_unused,
    ]
    for ask in asks:
        with pytest.raises(MetricsStoreDown):
            ask()
    store.close()
