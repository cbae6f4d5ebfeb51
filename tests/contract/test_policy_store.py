"""Checks the promises of a store of policies on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC

import pytest
from sqlalchemy import create_engine, text

from service.adapters.policies.postgres_policies import PostgresPolicies
from service.errors.policy_errors import PoliciesChanged, PoliciesDown
from service.errors.unavailable import MetricsStoreDown
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.policy_changes import PolicyDifference
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.ports.stores.policy_store import PolicyStore
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.policy_store import FakePolicyStore

SALES, ORDERS = TablePattern.parse("lake.sales.*"), TablePattern.parse("lake.sales.orders")
SELECT = Grant("analyst", Action.SELECT, SALES)
DENIAL = Grant("analyst", Action.SELECT, TablePattern.parse("lake.sales.pay"), is_denial=True)
FILTER = RowFilter("analyst", ORDERS, "region = 'Ä' AND note <> '\\n%s'")
MASK = ColumnMask("analyst", ORDERS, "Card", "sha2(`Card`, 256)")
VIEW = DefinerView("owner", TableName.of("lake.sales.By_Region"), "3f" * 32)
POLICIES = PolicySet(0, (DENIAL, SELECT, SELECT), (FILTER,), (MASK,), (VIEW,))


def execute(url: str, *statements: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@pytest.fixture
def policies_url(metrics_url: str) -> str:
    execute(metrics_url, "TRUNCATE policies", "TRUNCATE policy_changes")
    return metrics_url


@pytest.fixture(params=["fake", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[PolicyStore]:
    if request.param == "fake":
        yield FakePolicyStore()
        return
    policies = PostgresPolicies(request.getfixturevalue("policies_url"))
    yield policies
    policies.close()


def test_a_new_store_has_no_policies(store: PolicyStore) -> None:
    assert (store.version(), store.load(), store.changes(9)) == (0, PolicySet(), [])


def test_policies_are_stored_as_they_are_each_once_and_in_order(store: PolicyStore) -> None:
    stored = store.replace(POLICIES, expected_version=0, by="ops")
    assert stored == replace(POLICIES.in_order(), version=1)
    assert store.load() == stored
    assert store.version() == 1
    assert stored.grants == (SELECT, DENIAL)


def test_a_change_says_who_added_and_removed_what(store: PolicyStore) -> None:
    store.replace(POLICIES, expected_version=0, by="ops")
    edited = replace(FILTER, predicate="FALSE")
    moved = replace(VIEW, definition="00" * 32)
    store.replace(PolicySet(0, (SELECT,), (edited,), (MASK,), (moved,)), expected_version=1, by="cli:ada")
    latest, first = store.changes(9)
    assert (latest.version, latest.changed_by) == (2, "cli:ada")
    assert latest.difference == PolicyDifference((edited, moved), (DENIAL, FILTER, VIEW))
    assert (first.version, first.changed_by) == (1, "ops")
    assert first.difference == PolicyDifference((SELECT, DENIAL, FILTER, MASK, VIEW), ())
    assert latest.changed_at >= first.changed_at
    assert latest.changed_at.tzinfo is UTC
    assert store.changes(1) == [latest]
    assert store.load() == PolicySet(2, (SELECT,), (edited,), (MASK,), (moved,))


def test_the_same_policies_make_no_version(store: PolicyStore) -> None:
    stored = store.replace(POLICIES, expected_version=0, by="ops")
    assert store.replace(POLICIES, expected_version=1, by="ops") == stored
    assert len(store.changes(9)) == 1


@pytest.mark.parametrize("expected", [0, 2, -1])
def test_a_change_that_expects_another_version_is_refused(store: PolicyStore, expected: int) -> None:
    stored = store.replace(POLICIES, expected_version=0, by="ops")
    with pytest.raises(PoliciesChanged) as caught:
        store.replace(PolicySet(), expected_version=expected, by="eve")
    assert caught.value.version == 1
    assert store.load() == stored


def test_all_policies_can_be_removed(store: PolicyStore) -> None:
    store.replace(POLICIES, expected_version=0, by="ops")
    assert store.replace(PolicySet(), expected_version=1, by="ops") == store.load() == PolicySet(2)


def test_one_of_several_changes_at_once_is_made(policies_url: str) -> None:
    policies = PostgresPolicies(policies_url)

    def change(number: int) -> bool:
        grant = Grant(f"role{number}", Action.SELECT, SALES)
        try:
            policies.replace(PolicySet(grants=(grant,)), expected_version=0, by="ops")
        except PoliciesChanged:
            return False
        return True

    try:
        with ThreadPoolExecutor(4) as changers:
            assert sum(changers.map(change, range(4))) == 1
        assert policies.version() == 1
        assert len(policies.load().grants) == 1
    finally:
        policies.close()


@pytest.mark.parametrize(
    "broken", ["SET action = 'call'", "SET kind = 'later'", "SET table_pattern = 'a'", "SET action = NULL"]
)
def test_policies_that_this_version_cannot_read_are_not_read_in_part(policies_url: str, broken: str) -> None:
    policies = PostgresPolicies(policies_url)
    try:
        policies.replace(POLICIES, expected_version=0, by="ops")
        execute(policies_url, f"UPDATE policies {broken} WHERE kind = 'grant'")
        with pytest.raises(PoliciesDown, match="newer version"):
            policies.load()
        with pytest.raises(PoliciesDown):
            policies.replace(PolicySet(), expected_version=1, by="ops")
    finally:
        policies.close()


def test_a_store_that_is_down_is_named() -> None:
    policies = PostgresPolicies(NOBODY_THERE)
    asks: list[Callable[[], object]] = [
        policies.version,
        policies.load,
        lambda: policies.replace(POLICIES, expected_version=0, by="ops"),
        lambda: policies.changes(1),
    ]
    try:
        for ask in asks:
            with pytest.raises(MetricsStoreDown) as caught:
                ask()
            assert "127.0.0.1" not in caught.value.detail
    finally:
        policies.close()
