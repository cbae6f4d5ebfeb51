"""The policies in force: renewed from the store, changed here at once, and bounded in age."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from service.errors.policy_errors import PoliciesChanged, PoliciesDown
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.principals import NOBODY, Principal, PrincipalKind
from service.model.operations.health import PartState
from service.model.policies.actions import Action
from service.model.policies.decisions import Allowed, Decision, Refused
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet
from service.model.policies.signs import Outcome
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies, PolicyTimes
from tests.fakes.clock import FakeClock
from tests.fakes.policy_store import FakePolicyStore

ORDERS = TableName.of("lake.sales.orders")
SALES = TablePattern.parse("lake.sales.*")
SELECT = PolicySet(grants=(Grant("analyst", Action.SELECT, SALES),))
MASKED = PolicySet(
    grants=(
        *SELECT.grants,
        Grant("a", Action.SELECT, SALES),
        Grant("d", Action.SELECT, SALES, is_denial=True),
    ),
    column_masks=(ColumnMask("a", SALES, "card", "'*'"),),
)
TIMES = PolicyTimes(poll_s=60, max_age_s=300)


class House:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = FakePolicyStore(self.clock)
        self.live = LivePolicies(self.store, self.clock, TIMES)

    def decide(self, role: str = "analyst", action: Action = Action.SELECT) -> Decision:
        return self.live.decide(frozenset({role}), action, ORDERS)

    def later(self, seconds: float) -> None:
        self.clock.advance(timedelta(seconds=seconds))


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def started(house: House) -> Iterator[House]:
    house.live.start()
    yield house
    house.live.close()


def test_before_the_policies_are_read_nothing_is_decided_and_the_gateway_is_not_ready(house: House) -> None:
    with pytest.raises(PoliciesDown, match="not been read"):
        house.decide()
    health = house.live.health()
    assert (health.state, health.is_required) == (PartState.STARTING, True)
    house.later(7)
    signs = house.live.signs()
    assert (signs.version, signs.age_s, signs.decisions[Outcome.UNKNOWN]) == (0, 7, 1)


def test_a_start_reads_the_policies(started: House) -> None:
    assert started.decide() == Refused(Action.SELECT, ORDERS)
    assert started.live.health().state is PartState.UP


def test_a_start_while_the_store_is_down_goes_on_and_reads_them_later(house: House) -> None:
    house.store.is_down = True
    house.live.start()
    try:
        assert house.live.health().state is PartState.STARTING
        house.store.is_down = False
        house.live.refresh()
        assert house.live.health().state is PartState.UP
    finally:
        house.live.close()


def test_a_change_elsewhere_counts_after_the_next_look_and_is_read_once(house: House) -> None:
    house.live.refresh()
    house.store.replace(SELECT, expected_version=0, by="other replica")
    assert house.decide() == Refused(Action.SELECT, ORDERS)
    house.live.refresh()
    house.live.refresh()
    assert house.decide() == Allowed()
    assert house.store.load_count == 2


def test_a_change_here_counts_at_once(house: House) -> None:
    house.live.refresh()
    assert house.live.replace(SELECT, expected_version=0, by="ops").version == 1
    assert house.decide() == Allowed()
    with pytest.raises(PoliciesChanged):
        house.live.replace(PolicySet(), expected_version=0, by="ops")
    assert house.decide() == Allowed()


def test_a_store_that_was_restored_to_an_earlier_version_counts(house: House) -> None:
    house.live.replace(SELECT, expected_version=0, by="ops")
    house.live.replace(MASKED, expected_version=1, by="ops")
    older = FakePolicyStore(house.clock)
    older.replace(SELECT, expected_version=0, by="ops")
    house.live._store = older
    house.live.refresh()
    assert house.live.current().version == 1


def test_while_the_store_is_down_known_policies_count_for_a_bounded_time(house: House) -> None:
    house.live.replace(SELECT, expected_version=0, by="ops")
    house.store.is_down = True
    house.later(300)
    house.live.refresh()
    assert house.decide() == Allowed()
    assert house.live.health().state is PartState.UP
    house.later(1)
    with pytest.raises(PoliciesDown):
        house.decide()
    health = house.live.health()
    assert (health.state, health.is_required) == (PartState.DOWN, True)
    house.store.is_down = False
    house.live.refresh()
    assert house.decide() == Allowed()
    assert house.live.signs().age_s == 0


def test_a_change_that_the_store_does_not_take_changes_nothing_here(house: House) -> None:
    house.live.replace(SELECT, expected_version=0, by="ops")
    house.store.is_down = True
    with pytest.raises(MetricsStoreDown):
        house.live.replace(PolicySet(), expected_version=1, by="ops")
    assert house.decide() == Allowed()


class SlowStore(FakePolicyStore):
    """Has read the policies, and answers when `may_answer` is set."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.has_read, self.may_answer = threading.Event(), threading.Event()

    def load(self) -> PolicySet:
        found = super().load()
        self.has_read.set()
        assert self.may_answer.wait(60)
        return found


def test_an_answer_from_before_a_change_never_replaces_it() -> None:
    clock = FakeClock()
    store = SlowStore(clock)
    live = LivePolicies(store, clock, TIMES)
    refreshing = threading.Thread(target=live.refresh)
    refreshing.start()
    assert store.has_read.wait(60)
    changing = threading.Thread(target=lambda: live.replace(SELECT, expected_version=0, by="ops"))
    changing.start()
    store.may_answer.set()
    refreshing.join(60)
    changing.join(60)
    assert live.current().version == 1


def test_decisions_are_counted_by_their_outcome(house: House) -> None:
    house.live.replace(MASKED, expected_version=0, by="ops")
    for role in ("analyst", "a", "a", "d", "nobody"):
        house.decide(role)
    assert house.live.signs().decisions == {
        Outcome.ALLOWED: 1,
        Outcome.RESTRICTED: 2,
        Outcome.DENIED: 1,
        Outcome.NOT_GRANTED: 1,
        Outcome.UNKNOWN: 0,
    }
    assert house.live.signs().version == 1


def test_decisions_for_the_definer_of_a_view_are_counted_too(started: House) -> None:
    view = TableName.of("lake.sales.v")
    owned = replace(SELECT, definer_views=(DefinerView("analyst", view, "one"),))
    started.live.replace(owned, expected_version=started.live.current().version, by="ops")
    before = started.live.signs().decisions[Outcome.ALLOWED]
    access = started.live.access_of(Principal("ada", PrincipalKind.KEY))
    definer = access.definer_of(view)
    assert definer is not None
    assert definer.access.decide(Action.SELECT, ORDERS) == Allowed()
    assert started.live.signs().decisions[Outcome.ALLOWED] == before + 1
    assert access.definer_of(ORDERS) is None
    assert started.live.access_of(NOBODY).definer_of(view) is None


def test_a_caller_without_credentials_reads_and_appends_and_nothing_else(started: House) -> None:
    access = started.live.access_of(NOBODY)
    allowed = [action for action in Action if isinstance(access.decide(action, ORDERS), Allowed)]
    assert allowed == [Action.SELECT, Action.INSERT, Action.DESCRIBE]


def test_a_principal_without_roles_may_do_nothing(started: House) -> None:
    access = started.live.access_of(Principal("ada", PrincipalKind.KEY))
    assert all(isinstance(access.decide(action, ORDERS), Refused) for action in Action)
