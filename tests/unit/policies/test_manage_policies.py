"""Changes of policies are planned, checked on the tables of their patterns, and made once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.policy_errors import PoliciesChanged, PoliciesInvalid
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown, MetricsStoreDown
from service.faults import Fault
from service.model.policies.actions import Action
from service.model.policies.checks import CheckedPolicy, PolicyProblem
from service.model.policies.policies import AnyPolicy, ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableListing, TableName
from service.policies.live_policies import LivePolicies
from service.policies.manage_policies import PolicyBounds, Proposal
from tests.fakes.clock import FakeClock
from tests.fakes.policies import FakePolicyChecker, fake_policies
from tests.fakes.policy_store import FakePolicyStore

ORDERS, PAY = TableName.of("lake.sales.Orders"), TableName.of("lake.hr.pay")
SALES, EVERYTHING = TablePattern.parse("lake.sales.*"), TablePattern.parse("*.*.*")
SELECT = Grant("analyst", Action.SELECT, SALES)
FILTER = RowFilter("analyst", EVERYTHING, "region = 'A'")
MASK = ColumnMask("analyst", TablePattern.parse("lake.sales.orders"), "card", "NULL")
LISTING = TableListing((ORDERS, PAY))
POLICIES = PolicySet(0, (SELECT,), (FILTER,), (MASK,))
PLACES: dict[AnyPolicy, str] = {FILTER: "/roles/analyst/rowFilters/0/predicate"}


def test_a_change_is_made_once_and_says_what_it_did() -> None:
    policies = fake_policies(lambda: LISTING)
    changed = policies.replace(Proposal(POLICIES), 0, "ops")
    assert changed.policies == policies.current() == replace(POLICIES.in_order(), version=1)
    assert changed.difference.added == (SELECT, FILTER, MASK)
    assert changed.warnings == ()
    again = policies.replace(Proposal(POLICIES), None, "ops")
    assert (again.policies.version, bool(again.difference)) == (1, False)
    [change] = policies.changes(9)
    assert (change.version, change.changed_by) == (1, "ops")


def test_a_plan_changes_nothing() -> None:
    store = FakePolicyStore()
    planned = fake_policies(lambda: LISTING, store).plan(Proposal(POLICIES), 0)
    assert (planned.policies.version, planned.difference.added) == (1, (SELECT, FILTER, MASK))
    assert store.load() == PolicySet()


def test_another_version_is_refused() -> None:
    policies = fake_policies(lambda: LISTING)
    with pytest.raises(PoliciesChanged):
        policies.plan(Proposal(POLICIES), 3)
    policies.replace(Proposal(POLICIES), None, "ops")
    with pytest.raises(PoliciesChanged, match="version is 1"):
        policies.replace(Proposal(PolicySet()), 0, "ops")


def test_what_is_added_is_checked_on_each_table_of_its_pattern_and_nothing_else() -> None:
    checker = FakePolicyChecker()
    policies = fake_policies(lambda: LISTING, checker=checker)
    policies.replace(Proposal(POLICIES), 0, "ops")
    assert set(checker.checked) == {(ORDERS, FILTER), (PAY, FILTER), (ORDERS, MASK)}
    checker.checked.clear()
    edited = replace(MASK, expression="'*'")
    policies.replace(Proposal(replace(POLICIES, column_masks=(edited,))), 1, "ops")
    assert checker.checked == [(ORDERS, edited)]


def test_what_is_for_one_name_is_checked_although_views_are_not_listed() -> None:
    checker = FakePolicyChecker({"FALSE": "It is wrong."})
    policies = fake_policies(lambda: LISTING, checker=checker)
    view = TableName.of("lake.sales.by_region")
    added = RowFilter("analyst", TablePattern.parse(str(view)), "FALSE")
    with pytest.raises(PoliciesInvalid, match="It is wrong"):
        policies.plan(Proposal(PolicySet(row_filters=(added,))), 0)
    assert checker.checked == [(view, added)]
    policies.plan(Proposal(PolicySet(row_filters=(replace(added, pattern=TablePattern.parse("a.b.*")),))), 0)
    assert len(checker.checked) == 1


def test_sql_that_does_not_fit_a_table_is_refused_with_its_place() -> None:
    checker = FakePolicyChecker({"region = 'A'": "There is no column region."})
    policies = fake_policies(lambda: TableListing((PAY,)), checker=checker)
    with pytest.raises(PoliciesInvalid) as caught:
        policies.replace(Proposal(POLICIES, PLACES), 0, "ops")
    assert caught.value.faults == (Fault("lake.hr.pay: There is no column region.", PLACES[FILTER]),)
    assert policies.current() == PolicySet()


def test_a_pattern_without_a_table_is_a_warning() -> None:
    nowhere = Grant("analyst", Action.SELECT, TablePattern.parse("lake.nowhere.x"))
    warned = fake_policies(lambda: LISTING).plan(Proposal(PolicySet(grants=(SELECT, nowhere))), 0)
    assert warned.warnings == ("No table matches lake.nowhere.x now.",)


def test_checks_beyond_the_bound_are_a_warning() -> None:
    checker = FakePolicyChecker()
    bounds = PolicyBounds(max_checks=1)
    planned = fake_policies(lambda: LISTING, checker=checker, bounds=bounds).plan(Proposal(POLICIES), 0)
    assert len(checker.checked) == 1
    assert planned.warnings == ("2 checks of row filters and masks on tables were left out, after 1.",)


def test_unchecked_sql_is_a_warning() -> None:
    checker = FakePolicyChecker({"NULL": "It is wrong."})
    planned = fake_policies(lambda: LISTING, checker=checker).plan(Proposal(POLICIES), 0, is_checked=False)
    assert planned.warnings == ("The SQL of row filters and masks was not checked on tables.",)
    assert checker.checked == []


@pytest.mark.parametrize(
    ("policies", "bounds", "detail"),
    [
        (POLICIES, PolicyBounds(max_policies=2), "There are 3 policies; 2 are allowed."),
        (POLICIES, PolicyBounds(max_expression_bytes=5), "more than 5 bytes"),
        (
            PolicySet(column_masks=(MASK, replace(MASK, column="CARD", expression="'*'"))),
            PolicyBounds(),
            "another mask for card",
        ),
    ],
)
def test_policies_beyond_their_bounds_or_in_contradiction_are_refused(
    policies: PolicySet, bounds: PolicyBounds, detail: str
) -> None:
    with pytest.raises(PoliciesInvalid, match=detail):
        fake_policies(lambda: LISTING, bounds=bounds).plan(Proposal(policies), 0)


def test_a_filter_is_not_accepted_while_a_catalog_of_its_pattern_is_down() -> None:
    policies = fake_policies(lambda: TableListing((ORDERS,), missing=("other",)))
    with pytest.raises(CatalogDown, match="other"):
        policies.plan(Proposal(POLICIES), 0)
    narrow = PolicySet(grants=(Grant("a", Action.SELECT, EVERYTHING),), column_masks=(MASK,))
    assert policies.plan(Proposal(narrow), 0).warnings == ()


def test_grants_are_accepted_while_no_catalog_answers() -> None:
    def down() -> TableListing:
        raise CatalogDown

    policies = fake_policies(down)
    [warning] = policies.replace(Proposal(PolicySet(grants=(SELECT,))), 0, "ops").warnings
    assert "could not be listed" in warning
    with pytest.raises(CatalogDown):
        policies.plan(Proposal(POLICIES), None)


def test_a_table_that_is_dropped_during_the_checks_is_left_out() -> None:
    class Late(FakePolicyChecker):
        def check(self, table: TableName, policies: list[CheckedPolicy]) -> list[PolicyProblem]:  # type: ignore[override]  # noqa: ARG002
            raise TableNotFound(str(table))

    assert fake_policies(lambda: LISTING, checker=Late()).plan(Proposal(POLICIES), 0).difference


def test_a_change_counts_here_at_once_if_policies_decide_here() -> None:
    clock = FakeClock()
    store = FakePolicyStore(clock)
    live = LivePolicies(store, clock)
    policies = fake_policies(lambda: LISTING, store, live=live)
    policies.replace(Proposal(POLICIES), 0, "ops")
    assert live.current().version == 1
    version, decision = policies.decide(frozenset({"analyst"}), Action.SELECT, ORDERS)
    assert version == 1
    assert decision == live.decide(frozenset({"analyst"}), Action.SELECT, ORDERS)


def test_a_store_that_is_down_is_reported() -> None:
    store = FakePolicyStore()
    store.is_down = True
    with pytest.raises(MetricsStoreDown):
        fake_policies(lambda: LISTING, store).replace(Proposal(POLICIES), 0, "ops")


def test_a_filter_is_not_checked_on_the_dead_letters_of_its_tables() -> None:
    letters = TableName.of("lake.sales.Orders__dead_letter")
    checker = FakePolicyChecker()
    policies = fake_policies(lambda: TableListing((ORDERS, letters)), checker=checker)
    policies.replace(Proposal(PolicySet(0, (SELECT,), (replace(FILTER, pattern=SALES),))), 0, "ops")
    assert [table for table, _ in checker.checked] == [ORDERS]
    # A filter of the dead letters alone has their columns.
    alone = replace(FILTER, pattern=TablePattern.parse(str(letters)), predicate="format = 'CSV'")
    policies.replace(Proposal(PolicySet(0, (SELECT,), (alone,))), None, "ops")
    assert [table for table, _ in checker.checked] == [ORDERS, letters]
