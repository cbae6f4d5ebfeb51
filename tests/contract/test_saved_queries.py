"""Checks the promises of a store of saved queries on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import create_engine, text

from service.adapters.clock import SystemClock
from service.adapters.saved_queries.postgres_saved_queries import PostgresSavedQueries, SavedQueryCounts
from service.errors.saved_query_errors import SavedQueryChanged, TooManySavedQueries
from service.errors.unavailable import MetricsStoreDown
from service.model.query.history import MAX_SQL_CHARACTERS
from service.model.query.saved_queries import SavedQuery, SavedQueryListing, SavedQueryScope, SavedText
from service.ports.stores.saved_query_store import SavedQueryStore
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.saved_queries import FakeSavedQueryStore

PRIVATE = SavedText(name="Sales", sql="SELECT 'ü' AS \"x\"", catalog="lake", schema="shop")
SHARED = replace(PRIVATE, name="Returns", catalog=None, schema=None, is_shared=True)
NOWHERE = UUID(int=0)
Opened = Callable[..., SavedQueryStore]


@pytest.fixture(params=["fake", "postgres"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opened]:
    """Opens a store with some bounds; the stores of one test have the same queries on PostgreSQL."""
    if request.param == "fake":
        yield lambda **counts: FakeSavedQueryStore(SystemClock(), **counts)
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE saved_queries"))
    engine.dispose()
    stores: list[PostgresSavedQueries] = []

    def open_one(**counts: int) -> SavedQueryStore:
        stores.append(PostgresSavedQueries(url, SavedQueryCounts(**counts)))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


def ids(found: list[SavedQuery]) -> list[UUID]:
    return [saved.saved_query_id for saved in found]


def listed(store: SavedQueryStore, caller: str, limit: int = 10, **asked: object) -> list[SavedQuery]:
    return list(store.list(SavedQueryListing(caller, limit, **asked)))  # type: ignore[arg-type]


def test_a_query_is_found_as_it_was_saved(opened: Opened) -> None:
    store = opened()
    for saved_text in (PRIVATE, SHARED):
        saved = store.add("ada", saved_text)
        assert (saved.owner, saved.text, saved.version) == ("ada", saved_text, 1)
        assert saved.created_at == saved.changed_at or saved.created_at < saved.changed_at
        assert store.find(saved.saved_query_id, "ada") == saved
    assert store.find(NOWHERE, "ada") is None


def test_others_read_what_is_shared_and_change_nothing(opened: Opened) -> None:
    store = opened()
    private, shared = (store.add("ada", saved_text) for saved_text in (PRIVATE, SHARED))
    assert store.find(private.saved_query_id, "bob") is None
    assert store.find(shared.saved_query_id, "bob") == shared
    for saved in (private, shared):
        assert store.replace(saved.saved_query_id, "bob", 1, PRIVATE) is None
        assert not store.remove(saved.saved_query_id, "bob", None)
        assert store.find(saved.saved_query_id, "ada") == saved


def test_sharing_can_be_taken_back(opened: Opened) -> None:
    store = opened()
    saved = store.add("ada", SHARED)
    store.replace(saved.saved_query_id, "ada", 1, replace(SHARED, is_shared=False))
    assert store.find(saved.saved_query_id, "bob") is None
    assert listed(store, "bob") == []


def test_a_change_counts_the_version_up(opened: Opened) -> None:
    store = opened()
    saved = store.add("ada", PRIVATE)
    changed = store.replace(saved.saved_query_id, "ada", 1, SHARED)
    assert changed is not None
    assert (changed.text, changed.version, changed.created_at) == (SHARED, 2, saved.created_at)
    assert changed.changed_at >= saved.changed_at
    assert store.find(saved.saved_query_id, "ada") == changed
    assert store.replace(NOWHERE, "ada", 1, SHARED) is None


def test_a_change_of_another_version_changes_nothing(opened: Opened) -> None:
    store = opened()
    saved = store.add("ada", PRIVATE)
    changed = store.replace(saved.saved_query_id, "ada", 1, SHARED)
    with pytest.raises(SavedQueryChanged):
        store.replace(saved.saved_query_id, "ada", 1, PRIVATE)
    with pytest.raises(SavedQueryChanged):
        store.remove(saved.saved_query_id, "ada", 1)
    assert store.find(saved.saved_query_id, "ada") == changed


def test_of_changes_at_the_same_time_one_is_made(opened: Opened) -> None:
    store = opened()
    saved = store.add("ada", PRIVATE)

    def change(number: int) -> bool:
        try:
            store.replace(saved.saved_query_id, "ada", 1, replace(PRIVATE, name=f"{number}"))
        except SavedQueryChanged:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(change, range(8))) == 1
    found = store.find(saved.saved_query_id, "ada")
    assert found is not None
    assert found.version == 2


@pytest.mark.parametrize("version", [1, None])
def test_a_deleted_query_is_gone(opened: Opened, version: int | None) -> None:
    store = opened()
    saved = store.add("ada", SHARED)
    assert store.remove(saved.saved_query_id, "ada", version)
    assert not store.remove(saved.saved_query_id, "ada", version)
    assert store.find(saved.saved_query_id, "ada") is None


def test_a_list_has_what_the_caller_may_read_in_its_scope(opened: Opened) -> None:
    store = opened()
    private, shared = (store.add("ada", saved_text).saved_query_id for saved_text in (PRIVATE, SHARED))
    own = store.add("bob", SHARED).saved_query_id
    assert set(ids(listed(store, "ada"))) == {private, shared, own}
    assert set(ids(listed(store, "bob"))) == {shared, own}
    assert set(ids(listed(store, "ada", scope=SavedQueryScope.OWN))) == {private, shared}
    assert ids(listed(store, "bob", scope=SavedQueryScope.OTHERS)) == [shared]
    assert set(ids(listed(store, "cleo"))) == {shared, own}


def test_a_list_begins_with_the_last_changed_and_goes_on_behind_a_place(opened: Opened) -> None:
    store = opened()
    first, second, third = (store.add("ada", replace(PRIVATE, name=name)) for name in "abc")
    store.replace(first.saved_query_id, "ada", 1, SHARED)
    expected = ids([first, third, second])
    found = listed(store, "ada", 2)
    assert ids(found) == expected[:2]
    assert ids(listed(store, "ada", 2, before=found[-1].position)) == expected[2:]


@pytest.mark.parametrize(
    ("sought", "found"),
    [("SALE", ["Sales %"]), ("%", ["Sales %"]), ("_", []), ("x'", ["x' OR ''='"]), ("é", [])],
)
def test_a_list_is_searched_for_a_part_of_names(opened: Opened, sought: str, found: list[str]) -> None:
    store = opened()
    for name in ("Sales %", "x' OR ''='"):
        store.add("ada", replace(PRIVATE, name=name))
    assert [saved.text.name for saved in listed(store, "ada", name=sought)] == found


def test_a_list_has_the_beginning_of_each_text(opened: Opened) -> None:
    store = opened()
    saved = store.add("ada", replace(PRIVATE, sql="ü" * (MAX_SQL_CHARACTERS + 1)))
    assert [each.text.sql for each in listed(store, "ada")] == ["ü" * MAX_SQL_CHARACTERS]
    found = store.find(saved.saved_query_id, "ada")
    assert found is not None
    assert len(found.text.sql) == MAX_SQL_CHARACTERS + 1


def test_saved_queries_are_bounded_for_each_caller_and_for_all(opened: Opened) -> None:
    store = opened(max_of_caller=2, max_saved_queries=3)
    first = store.add("ada", PRIVATE)
    store.add("ada", PRIVATE)
    with pytest.raises(TooManySavedQueries):
        store.add("ada", PRIVATE)
    store.add("bob", PRIVATE)
    with pytest.raises(TooManySavedQueries):
        store.add("cleo", PRIVATE)
    store.remove(first.saved_query_id, "ada", None)
    store.add("cleo", PRIVATE)


def test_what_postgresql_cannot_hold_is_replaced(request: pytest.FixtureRequest) -> None:
    store = PostgresSavedQueries(request.getfixturevalue("metrics_url"))
    try:
        saved = store.add("nul", SavedText(name="a\0", sql="\ud800"))
        assert (saved.text.name, saved.text.sql) == ("a\ufffd", "?")
    finally:
        store.close()


def test_two_replicas_share_queries_and_their_bounds(request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("metrics_url")
    stores = [PostgresSavedQueries(url, SavedQueryCounts(max_of_caller=5)) for _ in range(2)]
    try:
        saved = stores[0].add("two", PRIVATE)
        assert stores[1].find(saved.saved_query_id, "two") == saved

        def add(number: int) -> bool:
            try:
                stores[number % 2].add("two", PRIVATE)
            except TooManySavedQueries:
                return False
            return True

        with ThreadPoolExecutor(4) as threads:
            assert sum(threads.map(add, range(12))) == 4
    finally:
        for store in stores:
            store.close()


def test_a_store_that_is_down_is_named() -> None:
    store = PostgresSavedQueries(NOBODY_THERE)
    asks: list[Callable[[], object]] = [
        lambda: store.add("ada", PRIVATE),
        lambda: store.find(NOWHERE, "ada"),
        lambda: store.list(SavedQueryListing("ada", 1)),
        lambda: store.replace(NOWHERE, "ada", 1, PRIVATE),
        lambda: store.remove(NOWHERE, "ada", None),
    ]
    try:
        for ask in asks:
            with pytest.raises(MetricsStoreDown):
                ask()
    finally:
        store.close()
