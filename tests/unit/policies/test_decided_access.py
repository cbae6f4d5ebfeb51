"""The rights that a request has used are compared with those after a change of policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from service.errors.policy_errors import PoliciesDown
from service.model.authentication.principals import NOBODY, Principal, PrincipalKind
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.decided_access import MAX_NOTED, DecidedAccess
from service.policies.live_policies import LivePolicies
from tests.fakes.clock import FakeClock
from tests.fakes.policy_store import FakePolicyStore

ORDERS, PAY, VIEW = (TableName.of(f"lake.{name}") for name in ("sales.orders", "hr.pay", "sales.v"))
SALES, ALL = TablePattern.parse("lake.sales.*"), TablePattern.parse("*.*.*")
EXACTLY = TablePattern.parse(str(ORDERS))
ANN = Principal("ann", PrincipalKind.KEY, frozenset({"analyst"}))
SELECT = Grant("analyst", Action.SELECT, SALES)
BEFORE = PolicySet(
    1,
    (
        SELECT,
        Grant("owner", Action.SELECT, TablePattern.parse("lake.hr.*")),
        Grant("analyst", Action.INSERT, EXACTLY),
    ),
    (RowFilter("owner", TablePattern.parse(str(PAY)), "id = 1"),),
    (),
    (DefinerView("owner", VIEW, "d1"),),
)


def reads(access: Access) -> None:
    access.decide(Action.SELECT, ORDERS)
    access.definer_of(ORDERS)


def reads_view(access: Access) -> None:
    access.decide(Action.SELECT, VIEW)
    for _ in range(2):
        definer = access.definer_of(VIEW)
        assert definer is not None
        definer.access.decide(Action.SELECT, PAY)


def is_refused(access: Access) -> None:
    access.decide(Action.SELECT, PAY)


def lists(access: Access) -> None:
    access.sight_of("lake", "sales")
    access.knows_catalog("lake")
    access.knows_catalog("other")


def with_(**parts: tuple[object, ...]) -> PolicySet:
    return replace(BEFORE, version=2, **parts)  # type: ignore[arg-type]


NO_GRANTS = with_(grants=())
DENIED = with_(grants=(*BEFORE.grants, Grant("analyst", Action.SELECT, EXACTLY, is_denial=True)))
FILTERED = with_(row_filters=(*BEFORE.row_filters, RowFilter("analyst", EXACTLY, "id = 2")))
MASKED = with_(column_masks=(ColumnMask("analyst", EXACTLY, "card", "NULL"),))
ELSEWHERE = with_(grants=(*BEFORE.grants, Grant("other", Action.ADMIN, ALL)))
MORE = with_(grants=(*BEFORE.grants, Grant("analyst", Action.SELECT, ALL)))
OWNER_LOST = with_(grants=(SELECT,))
OWNER_SEES_MORE = with_(row_filters=())
REPLACED = with_(definer_views=(DefinerView("owner", VIEW, "d2"),))
INVOKERS = with_(definer_views=())
OTHERS_VIEW = with_(definer_views=(*BEFORE.definer_views, DefinerView("owner", ORDERS, "d3")))
CHANGES: dict[str, tuple[PolicySet, frozenset[str]]] = {
    "no grants": (NO_GRANTS, frozenset({"reads", "reads_view", "lists"})),
    "denied": (DENIED, frozenset({"reads"})),
    "filtered": (FILTERED, frozenset({"reads"})),
    "masked": (MASKED, frozenset({"reads"})),
    "another role": (ELSEWHERE, frozenset()),
    "more grants": (MORE, frozenset()),
    "the definer lost its grant": (OWNER_LOST, frozenset({"reads_view"})),
    "the definer sees more": (OWNER_SEES_MORE, frozenset({"reads_view"})),
    "another definition": (REPLACED, frozenset({"reads_view"})),
    "no definer": (INVOKERS, frozenset({"reads_view"})),
    "a definer of what was a table": (OTHERS_VIEW, frozenset({"reads"})),
}
"""Policies, and what has other rights under them than before."""
REQUESTS: dict[str, Callable[[Access], None]] = {
    each.__name__: each for each in (reads, reads_view, is_refused, lists)
}


class House:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = FakePolicyStore(policies=BEFORE)
        self.live = LivePolicies(self.store, self.clock)
        self.live.refresh()

    def asked(self, request: Callable[[Access], None], principal: Principal = ANN) -> DecidedAccess:
        access = self.live.access_of(principal)
        assert isinstance(access, DecidedAccess)
        request(access)
        return access

    def change(self, policies: PolicySet) -> None:
        self.store.replace(policies, expected_version=self.store.version(), by="ops")
        self.live.refresh()


@pytest.mark.parametrize("request_name", sorted(REQUESTS))
@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_request_is_as_before_unless_its_rights_changed(change: str, request_name: str) -> None:
    house = House()
    access = house.asked(REQUESTS[request_name])
    assert access.is_as_before()
    policies, lost = CHANGES[change]
    house.change(policies)
    assert access.is_as_before() == (request_name not in lost)
    house.change(BEFORE)
    assert access.is_as_before()


def test_nobody_knows_while_the_policies_are_not_known() -> None:
    house = House()
    access = house.asked(reads)
    house.store.is_down = True
    house.clock.advance(timedelta(minutes=6))
    with pytest.raises(PoliciesDown):
        access.is_as_before()


def test_the_anonymous_caller_has_the_same_rights_always() -> None:
    house = House()
    access = house.asked(reads, NOBODY)
    house.change(NO_GRANTS)
    assert access.is_as_before()


def test_after_too_many_decisions_any_change_counts() -> None:
    house = House()

    def many(access: Access) -> None:
        for number in range(MAX_NOTED + 5):
            access.decide(Action.SELECT, TableName("lake", "sales", f"t{number}"))

    access = house.asked(many)
    assert len(access.notes.allowed) == MAX_NOTED
    assert access.is_as_before()
    house.change(ELSEWHERE)
    assert not access.is_as_before()
