"""A principal's knowledge of tables, views and partitions. Spark's answers are tested on the engine."""

from __future__ import annotations

import pytest

from service.errors.policy_errors import TableAccessDenied
from service.errors.statement_errors import SqlInvalid
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.policies.read_plan import ReadPlan, ReadTable, ReadView
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from spark_session.engine.metadata.rights import (
    is_shown,
    require_catalog,
    require_partitions,
    require_relation,
    require_some_name,
    shown_tables,
    shows_text,
    shows_values,
)
from tests.unit.policies.by_hand import ByHand

ORDERS = TableName("lake", "shop", "orders")
PARTS = ("lake", "shop", "orders")


def access(*rules: tuple[str, str]) -> Access:
    policies = ByHand({"role": rules}).policies()
    return RoleAccess(CompiledPolicies(policies), frozenset({"role"}))


def plan_of_table(name: TableName = ORDERS, metadata: str | None = None) -> ReadPlan:
    return ReadPlan((), (), (ReadTable(name, name.parts, metadata, ()),), ())


def plan_of_view(below: TableName = ORDERS) -> ReadPlan:
    view = ReadView(("lake", "shop", "v"))
    return ReadPlan((), (view,), (ReadTable(below, below.parts, None, (), view.inside),), ())


READER = access(("lake.shop.orders", "select"))
FILTERED = access(("lake.shop.orders", "select"), ("lake.shop.orders", "rows:id = 1"))
MASKED = access(("lake.shop.orders", "select"), ("lake.shop.orders", "mask:card=NULL"))
DESCRIBER = access(("lake.shop.orders", "describe"))
NOBODY = access()


def test_a_name_that_can_mean_nothing_known_is_refused_before_a_catalog_is_asked() -> None:
    for parts in (PARTS, (*PARTS, "files"), (*PARTS, "tag_a", "files"), ("LAKE", "shop", "ORDERS")):
        require_some_name(DESCRIBER, parts)
        with pytest.raises(TableAccessDenied) as denied:
            require_some_name(NOBODY, parts)
        assert denied.value.table == ".".join(parts)
    with pytest.raises(TableAccessDenied):
        require_some_name(DESCRIBER, ("lake", "shop", "other"))


def test_the_table_that_is_meant_decides_and_the_error_has_the_name_as_written() -> None:
    assert require_relation(DESCRIBER, PARTS, plan_of_table()) == ORDERS
    written = ("lake", "shop", "orders", "files")
    everything_but = access(("lake.*.*", "select"), ("lake.shop.orders", "!admin"))
    with pytest.raises(TableAccessDenied) as denied:
        require_relation(everything_but, written, plan_of_table(metadata="FILES"))
    assert denied.value.table == "lake.shop.orders.files"


def test_metadata_tables_are_known_as_queries_may_read_them() -> None:
    written = ("lake", "shop", "orders", "files")
    assert require_relation(READER, written, plan_of_table(metadata="FILES")) == ORDERS
    assert require_relation(DESCRIBER, written, plan_of_table(metadata="SNAPSHOTS")) == ORDERS
    for restricted in (FILTERED, MASKED, DESCRIBER):
        with pytest.raises(TableAccessDenied):
            require_relation(restricted, written, plan_of_table(metadata="FILES"))


def test_a_plan_of_nothing_is_refused() -> None:
    with pytest.raises(TableAccessDenied):
        require_relation(FULL_ACCESS, PARTS, ReadPlan((), (), (), ()))


def test_a_views_text_is_shown_to_who_knows_all_that_it_names() -> None:
    view = ("lake.shop.v", "select")
    assert shows_text(access(view, ("lake.shop.orders", "describe")), plan_of_view())
    assert not shows_text(access(view), plan_of_view())
    assert not shows_text(
        access(view, ("lake.shop.*", "select")), plan_of_view(TableName("lake", "hr", "pay"))
    )
    assert shows_text(access(("*.*.*", "admin")), plan_of_view())
    assert require_relation(access(view), ("lake", "shop", "v"), plan_of_view()) == TableName(
        "lake", "shop", "v"
    )


def test_partitions_are_shown_to_who_sees_all_of_a_table() -> None:
    require_partitions(READER, ORDERS)
    assert shows_values(READER, ORDERS)
    for other in (FILTERED, MASKED, DESCRIBER, NOBODY):
        assert not shows_values(other, ORDERS)
        with pytest.raises(TableAccessDenied):
            require_partitions(other, ORDERS)


def test_tables_and_catalogs_that_may_not_be_known_are_left_out() -> None:
    assert shown_tables(READER, ("lake", "shop"), ["orders", "Orders", "hidden"]) == ["orders", "Orders"]
    assert shown_tables(NOBODY, ("lake", "shop"), ["orders"]) == []
    require_catalog(READER, "lake")
    with pytest.raises(SqlInvalid, match="There is no catalog rest"):
        require_catalog(READER, "rest")


def test_a_schema_that_is_shown_by_a_table_needs_one() -> None:
    by_table = access(("lake.*.orders", "select"))
    assert is_shown(by_table, ("lake", "shop"), lambda: True)
    assert not is_shown(by_table, ("lake", "shop"), lambda: False)
    assert is_shown(READER, ("lake", "shop"), lambda: False)
    assert not is_shown(NOBODY, ("lake", "shop"), lambda: True)
