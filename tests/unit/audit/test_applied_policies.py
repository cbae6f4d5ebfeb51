"""An audit event names the row filters and masks that a query was subject to."""

from __future__ import annotations

from dataclasses import replace

from service.audit.audited_queries import query_event
from service.model.audit.bounded_names import MAX_POLICIES, with_policies
from service.model.audit.events import Details
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.fakes.query_records import full_record

EVERYTHING = TablePattern.parse("*.*.*")


def access(*policies: RowFilter | ColumnMask) -> RoleAccess:
    found = PolicySet(
        1,
        (Grant("analyst", Action.SELECT, EVERYTHING),),
        tuple(one for one in policies if isinstance(one, RowFilter)),
        tuple(one for one in policies if isinstance(one, ColumnMask)),
    )
    return RoleAccess(CompiledPolicies(found), frozenset({"analyst"}))


def applied(of: RoleAccess) -> tuple[tuple[str, ...], tuple[str, ...]]:
    details = query_event(replace(full_record(), access=of), lambda _: None).details
    return details.tables, details.policies


def test_each_row_filter_and_mask_of_a_table_that_was_read_is_named() -> None:
    tables, policies = applied(
        access(RowFilter("analyst", EVERYTHING, "a > 1"), ColumnMask("analyst", EVERYTHING, "Card", "NULL"))
    )
    assert tables
    assert set(policies) == {
        text for table in tables for text in (f"row filter of {table}", f"mask of {table}.card")
    }


def test_without_restrictions_none_is_named() -> None:
    assert applied(access())[1] == ()
    assert applied(access(RowFilter("others", EVERYTHING, "a > 1")))[1] == ()
    assert query_event(full_record(), lambda _: None).details.policies == ()


def test_what_the_engine_applied_to_its_scans_counts() -> None:
    """Below a view with a definer, the row filters and masks of the caller are not applied."""
    of = access(RowFilter("analyst", EVERYTHING, "a > 1"))
    report = ("definer of lake.shop.v", "mask of lake.shop.item.card")
    ended = replace(full_record(), access=of, applied=report, filters=(), rewrites=())
    assert query_event(ended, lambda _: None).details.policies == report
    beside = query_event(replace(ended, filters=full_record().filters), lambda _: None).details
    assert beside.policies[:2] == report
    assert len(beside.policies) > 2
    assert all(policy.startswith("row filter of") for policy in beside.policies[2:])


def test_too_many_are_cut_and_said() -> None:
    found = with_policies(Details(), (f"mask of t.{number}" for number in range(MAX_POLICIES + 1)))
    assert len(found.policies) == MAX_POLICIES
    assert found.is_shortened
