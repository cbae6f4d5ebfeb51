"""Grants on tables show their schemas and catalogs."""

from __future__ import annotations

import pytest

from service.model.policies.decisions import FULL_ACCESS, Access, SchemaSight
from service.policies.anonymous_access import ANONYMOUS_ACCESS
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.unit.policies.by_hand import ByHand

SHOWN, BY_TABLE, HIDDEN = SchemaSight.SHOWN, SchemaSight.BY_TABLE, SchemaSight.HIDDEN


def access(*rules: tuple[str, str]) -> Access:
    policies = ByHand({"role": rules, "other": (("*.*.*", "admin"),)}).policies()
    return RoleAccess(CompiledPolicies(policies), frozenset({"role"}))


@pytest.mark.parametrize(
    ("rules", "sight"),
    [
        ((), HIDDEN),
        ((("lake.shop.*", "select"),), SHOWN),
        ((("lake.shop.*", "describe"),), SHOWN),
        ((("lake.shop.orders", "insert"),), SHOWN),
        ((("lake.*.*", "select"),), SHOWN),
        ((("*.*.*", "admin"),), SHOWN),
        ((("lake.*.orders", "select"),), BY_TABLE),
        ((("lake.sh*.*", "select"),), SHOWN),
        ((("lake.hr.*", "select"), ("rest.shop.*", "select")), HIDDEN),
        # Denials.
        ((("lake.*.*", "select"), ("lake.shop.*", "!describe")), HIDDEN),
        ((("lake.*.*", "admin"), ("lake.shop.*", "!admin")), HIDDEN),
        ((("lake.*.*", "select"), ("lake.shop.orders", "!admin")), SHOWN),
        ((("lake.shop.orders", "select"), ("lake.shop.orders", "!admin")), HIDDEN),
        ((("lake.*.*", "select"), ("lake.shop.*", "!select")), HIDDEN),
        # A schema on the way to one that is shown.
        ((("lake.shop.north.*", "select"),), SHOWN),
        ((("lake.shopping.north.*", "select"),), HIDDEN),
    ],
    ids=str,
)
def test_a_schema_is_known_by_grants_on_its_tables(
    rules: tuple[tuple[str, str], ...], sight: SchemaSight
) -> None:
    assert access(*rules).sight_of("lake", "shop") is sight
    assert access(*rules).sight_of("LAKE", "Shop") is sight


def test_a_catalog_is_known_by_grants_on_its_tables() -> None:
    some = access(("lake.shop.orders", "select"), ("rest.*.*", "select"), ("rest.*.*", "!admin"))
    assert [some.knows_catalog(name) for name in ("lake", "LAKE", "rest", "other")] == [
        True,
        True,
        False,
        False,
    ]
    assert access(("*.shop.orders", "select")).knows_catalog("anything")
    assert not access().knows_catalog("lake")


@pytest.mark.parametrize("everybody", [FULL_ACCESS, ANONYMOUS_ACCESS], ids=["full", "anonymous"])
def test_who_may_read_all_tables_knows_all_schemas(everybody: Access) -> None:
    assert everybody.sight_of("lake", "shop") is SHOWN
    assert everybody.knows_catalog("lake")
