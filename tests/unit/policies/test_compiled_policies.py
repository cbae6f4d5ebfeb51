"""Decisions of policies: nothing by default, a denial beats each grant, roles only add rows and columns."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.model.policies.actions import Action
from service.model.policies.decisions import Allowed, Decision, Refused
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import MAX_WILDCARDS, TablePattern
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess

ORDERS, PAY = TableName.of("lake.sales.orders"), TableName.of("lake.hr.pay")
EVERYTHING = TablePattern.parse("*.*.*")
SALES = TablePattern.parse("lake.sales.*")
ROLES = ("a", "b", "c")
PATTERNS = ("*.*.*", "lake.*.*", "lake.sales.*", "lake.sales.orders", "lake.hr.*", "*.*.pay", "other.*.*")

grants = some.builds(
    Grant,
    some.sampled_from(ROLES),
    some.sampled_from(Action),
    some.sampled_from(PATTERNS).map(TablePattern.parse),
    some.booleans(),
)
row_filters = some.builds(
    RowFilter,
    some.sampled_from(ROLES),
    some.sampled_from(PATTERNS).map(TablePattern.parse),
    some.sampled_from(("x = 1", "x = 2", "y")),
)
column_masks = some.builds(
    ColumnMask,
    some.sampled_from(ROLES),
    some.sampled_from(PATTERNS).map(TablePattern.parse),
    some.sampled_from(("card", "Name")),
    some.sampled_from(("NULL", "'***'")),
)
policy_sets = some.builds(
    PolicySet,
    some.integers(0, 9),
    some.lists(grants, max_size=8).map(tuple),
    some.lists(row_filters, max_size=4).map(tuple),
    some.lists(column_masks, max_size=4).map(tuple),
)
role_sets = some.frozensets(some.sampled_from(ROLES))
tables = some.sampled_from((ORDERS, PAY, TableName.of("Other.Sales.Orders")))


def decide(
    roles: str, table: TableName = ORDERS, action: Action = Action.SELECT, **policies: object
) -> Decision:
    return CompiledPolicies(PolicySet(**policies)).decide(frozenset(roles.split()), action, table)  # type: ignore[arg-type]


def masked(**masks: str) -> Allowed:
    return Allowed(Restriction(masks=tuple(masks.items())))


def test_nothing_is_allowed_by_default() -> None:
    assert decide("analyst") == Refused(Action.SELECT, ORDERS)


def test_a_denial_beats_each_grant_of_every_role() -> None:
    given_grants = (Grant("a", Action.SELECT, EVERYTHING), Grant("b", Action.SELECT, SALES, is_denial=True))
    assert decide("a b", grants=given_grants) == Refused(Action.SELECT, ORDERS, is_denied=True)
    assert decide("a b", PAY, grants=given_grants) == Allowed()
    assert decide("a", grants=given_grants) == Allowed()


def test_who_may_write_a_table_sees_its_schema_and_not_its_rows() -> None:
    inserts = (Grant("loader", Action.INSERT, SALES),)
    assert decide("loader", action=Action.DESCRIBE, grants=inserts) == Allowed()
    assert decide("loader", action=Action.SELECT, grants=inserts) == Refused(Action.SELECT, ORDERS)


def test_a_role_without_a_filter_sees_all_rows() -> None:
    selects = (Grant("a", Action.SELECT, SALES), Grant("b", Action.SELECT, SALES))
    filters = (RowFilter("a", SALES, "region = 'A'"), RowFilter("a", EVERYTHING, "is_public"))
    assert decide("a", grants=selects, row_filters=filters) == Allowed(
        Restriction("((region = 'A') AND (is_public))")
    )
    assert decide("a b", grants=selects, row_filters=filters) == Allowed()
    both = (*filters, RowFilter("b", SALES, "region = 'B'"))
    expected = Allowed(Restriction("((region = 'A') AND (is_public)) OR ((region = 'B'))"))
    assert decide("a b", grants=selects, row_filters=both) == expected


LETTERS = TableName.of("lake.sales.orders__dead_letter")


@pytest.mark.parametrize(
    ("hiding", "is_denied"),
    [
        ({}, None),
        ({"row_filters": (RowFilter("a", TablePattern.parse("lake.sales.orders"), "x = 1"),)}, False),
        ({"column_masks": (ColumnMask("a", TablePattern.parse("lake.sales.orders"), "x", "NULL"),)}, False),
        ({"grants": (Grant("a", Action.SELECT, TablePattern.parse(str(ORDERS)), is_denial=True),)}, True),
        ({"grants": (Grant("a", Action.ADMIN, TablePattern.parse(str(ORDERS)), is_denial=True),)}, True),
    ],
)
def test_dead_letters_are_read_by_who_sees_all_of_their_table(
    hiding: dict[str, Any], is_denied: bool | None
) -> None:
    policies: dict[str, Any] = hiding | {
        "grants": (Grant("a", Action.SELECT, SALES), *hiding.get("grants", ()))
    }
    allowed = Allowed()
    refused = Refused(Action.SELECT, LETTERS, is_denied=bool(is_denied), shows=ORDERS)
    assert decide("a", LETTERS, **policies) == (allowed if is_denied is None else refused)
    # Their schema shows nothing of a record. The dead letters of dead letters hide as much.
    assert decide("a", LETTERS, Action.DESCRIBE, **policies) == allowed
    again = TableName.of(f"{LETTERS}__Dead_Letter")
    assert isinstance(decide("a", again, **policies), Allowed if is_denied is None else Refused)


def test_a_grant_of_dead_letters_alone_does_not_show_them() -> None:
    alone = (Grant("a", Action.SELECT, TablePattern.parse("lake.sales.*__dead_letter")),)
    assert decide("a", LETTERS, grants=alone) == Refused(Action.SELECT, LETTERS, shows=ORDERS)
    # Another role of the caller may give what is missing.
    both = (*alone, Grant("b", Action.SELECT, TablePattern.parse(str(ORDERS))))
    assert decide("a b", LETTERS, grants=both) == Allowed()


def test_a_filter_of_a_role_that_grants_nothing_does_not_count() -> None:
    filters = (RowFilter("b", SALES, "FALSE"),)
    assert decide("a b", grants=(Grant("a", Action.SELECT, SALES),), row_filters=filters) == Allowed()


def test_a_column_is_masked_unless_one_granting_role_leaves_it_open() -> None:
    selects = (Grant("a", Action.SELECT, SALES), Grant("b", Action.SELECT, SALES))
    masks = (ColumnMask("a", SALES, "Card", "NULL"), ColumnMask("a", SALES, "name", "'*'"))
    assert decide("a", grants=selects, column_masks=masks) == masked(card="NULL", name="'*'")
    assert decide("a b", grants=selects, column_masks=masks) == Allowed()
    both = (*masks, ColumnMask("b", SALES, "card", "'hidden'"))
    assert decide("a b", grants=selects, column_masks=both) == masked(card="NULL")


def test_of_a_roles_masks_for_a_column_the_most_specific_pattern_counts() -> None:
    selects = (Grant("a", Action.SELECT, EVERYTHING),)
    masks = (ColumnMask("a", SALES, "card", "'sales'"), ColumnMask("a", EVERYTHING, "card", "NULL"))
    assert decide("a", grants=selects, column_masks=masks) == masked(card="'sales'")
    assert decide("a", PAY, grants=selects, column_masks=masks) == masked(card="NULL")


def test_a_view_has_the_rights_of_all_roles_that_define_it_and_no_others() -> None:
    view, other = TableName.of("lake.sales.By_Region"), TableName.of("lake.sales.by_day")
    compiled = CompiledPolicies(
        PolicySet(
            grants=(Grant("owner", Action.SELECT, SALES), Grant("hr", Action.SELECT, EVERYTHING)),
            definer_views=(DefinerView("owner", view, "one"), DefinerView("hr", view, "one")),
        )
    )
    caller = RoleAccess(compiled, frozenset({"analyst"}))
    definer = caller.definer_of(TableName.of("LAKE.sales.by_region"))
    assert definer is not None
    assert definer.definition == "one"
    assert definer.access.decide(Action.SELECT, PAY) == Allowed()
    # Who has the roles itself gets no other rights by the view.
    assert RoleAccess(compiled, frozenset({"hr"})).definer_of(view) == definer
    assert caller.definer_of(other) is None
    assert caller.definer_of(ORDERS) is None
    assert caller.decide(Action.SELECT, view) == Refused(Action.SELECT, view.in_lower_case())
    assert compiled.definer_roles(view) == {"owner", "hr"}
    assert compiled.definer_roles(other) == frozenset()


def test_a_view_with_two_definitions_has_none() -> None:
    view = TableName.of("lake.sales.v")
    stored = (DefinerView("a", view, "one"), DefinerView("b", view, "two"))
    for views in (stored, stored[::-1], (*stored, stored[0])):
        definer = CompiledPolicies(PolicySet(definer_views=views)).definer_of(view)
        assert definer is not None
        assert definer.definition == ""


@given(policy_sets, role_sets, some.sampled_from(Action), tables)
def test_decisions_are_those_of_the_rules_read_one_by_one(
    policies: PolicySet, roles: frozenset[str], action: Action, table: TableName
) -> None:
    compiled = CompiledPolicies(policies)
    decided = compiled.decide(roles, action, table)
    assert decided == _expected(policies, roles, action, table)
    assert compiled.decide(roles, action, table) == decided


@given(policy_sets, role_sets, some.sampled_from(ROLES), tables)
def test_a_role_without_denials_hides_nothing_that_was_seen(
    policies: PolicySet, roles: frozenset[str], more: str, table: TableName
) -> None:
    compiled = CompiledPolicies(policies)
    before = compiled.decide(roles, Action.SELECT, table)
    after = compiled.decide(roles | {more}, Action.SELECT, table)
    if isinstance(before, Allowed) and isinstance(after, Allowed):
        assert before.restriction.row_filter is not None or after.restriction.row_filter is None
        assert dict(after.restriction.masks).keys() <= dict(before.restriction.masks).keys()


@given(policy_sets, policy_sets, role_sets, tables)
def test_fingerprints_are_equal_where_the_same_is_seen(
    one: PolicySet, other: PolicySet, roles: frozenset[str], table: TableName
) -> None:
    first, second = (
        CompiledPolicies(policies).decide(roles, Action.SELECT, table) for policies in (one, other)
    )
    if isinstance(first, Allowed) and isinstance(second, Allowed):
        one_seen, other_seen = first.restriction, second.restriction
        assert (one_seen.fingerprint == other_seen.fingerprint) is (one_seen == other_seen)
        assert (one_seen.fingerprint == "") is not one_seen.is_any


@given(some.text("ab*", max_size=12), some.text("abAB", max_size=12))
def test_a_part_matches_as_a_glob_without_case(glob: str, name: str) -> None:
    if glob and name and glob.count("*") <= MAX_WILDCARDS:
        pattern = TablePattern.parse(f"c.s.{glob}")
        assert pattern.covers(TableName("C", "S", name)) is fnmatchcase(name.lower(), glob)


def test_a_pattern_of_many_wildcards_is_quick_to_refuse_a_name() -> None:
    pattern = TablePattern.parse("c.s." + "*a" * MAX_WILDCARDS + "b")
    assert not pattern.covers(TableName("c", "s", "a" * 10_000))


@pytest.mark.parametrize(
    "text",
    ["", "lake", "lake.sales", "lake..orders", "lake.sales.", "lake.`s`.t", "a.b.c d", "a.b." + "*x" * 9],
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        TablePattern.parse(text)


def _expected(policies: PolicySet, roles: frozenset[str], action: Action, table: TableName) -> Decision:
    """Decides as the documentation says it, rule by rule."""
    table = table.in_lower_case()
    covering = [grant for grant in policies.grants if grant.role in roles and grant.pattern.covers(table)]
    denied = {grant.action for grant in covering if grant.is_denial}
    if denied & {action, Action.ADMIN}:
        return Refused(action, table, is_denied=True)
    granted_by = action.granted_by - denied
    granting = sorted(
        {grant.role for grant in covering if not grant.is_denial and grant.action in granted_by}
    )
    if not granting:
        return Refused(action, table)
    filters = {
        role: [found for found in policies.row_filters if found.role == role and found.pattern.covers(table)]
        for role in granting
    }
    masks: dict[str, dict[str, str]] = {role: {} for role in granting}
    for role, mask in product(granting, policies.column_masks):
        if mask.role == role and mask.pattern.covers(table):
            best = max(
                (
                    other
                    for other in policies.column_masks
                    if other.role == role
                    and other.column.lower() == mask.column.lower()
                    and other.pattern.covers(table)
                ),
                key=lambda found: (found.pattern.literal_length, str(found.pattern), found.expression),
            )
            masks[role][mask.column.lower()] = best.expression
    masked = set.intersection(*(set(found) for found in masks.values()))
    predicates = [
        " AND ".join(dict.fromkeys(f"({found.predicate})" for found in filters[role])) for role in granting
    ]
    row_filter = None if "" in predicates else " OR ".join(dict.fromkeys(f"({each})" for each in predicates))
    return Allowed(
        Restriction(row_filter, tuple((column, masks[granting[0]][column]) for column in sorted(masked)))
    )
