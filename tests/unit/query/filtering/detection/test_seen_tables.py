"""Views are replaced by their texts for pruning only where nothing stands between a query and their rows."""

from __future__ import annotations

import pytest

from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.query.filtering.detection.seen_tables import may_expand

VIEW, OTHER = TableName.of("lake.sales.by_region"), TableName.of("lake.sales.by_day")
PATTERN = TablePattern.parse(str(VIEW))
SELECT = (Grant("analyst", Action.SELECT, TablePattern.parse("lake.sales.*")),)


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        (PolicySet(grants=SELECT), True),
        (PolicySet(), False),
        (PolicySet(grants=SELECT, row_filters=(RowFilter("analyst", PATTERN, "TRUE"),)), False),
        (PolicySet(grants=SELECT, column_masks=(ColumnMask("analyst", PATTERN, "a", "NULL"),)), False),
        (PolicySet(grants=SELECT, definer_views=(DefinerView("owner", VIEW, "one"),)), False),
        (PolicySet(grants=SELECT, definer_views=(DefinerView("analyst", VIEW, "one"),)), False),
    ],
    ids=["granted", "refused", "filtered", "masked", "of_a_definer", "of_its_own_role"],
)
def test_only_views_without_policies_of_their_own_are_replaced(policies: PolicySet, expected: bool) -> None:
    access = RoleAccess(CompiledPolicies(policies), frozenset({"analyst"}))
    assert may_expand([VIEW], access) is expected
    assert may_expand([OTHER, VIEW], access) is expected


def test_without_policies_all_views_are_replaced() -> None:
    assert may_expand([VIEW, OTHER], FULL_ACCESS)
