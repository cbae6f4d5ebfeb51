"""Who gets advice, and how much of it at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from threading import Event, Thread

import pytest

from service.advice.advice_service import AdviceService
from service.errors.unavailable import GatewayBusy
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import ColumnMask, Grant, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.table_layout import TableLayout
from service.model.tables.tables import TableFacts, TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.tables.table_layouts import LayoutBounds
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import ADVICE_BOUNDS
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.query_records import scan, short_record
from tests.fakes.table_layouts import FakeLayouts

SALES = TableName("lake", "shop", "sales")


def test_advice_beyond_the_bound_is_refused_until_a_place_is_free() -> None:
    is_asked, may_go_on = Event(), Event()

    def facts(name: TableName) -> TableFacts:
        is_asked.set()
        assert may_go_on.wait(20)
        return facts_of_empty_table(name)

    history = FakeQueryHistory(FakeMetricsStore())
    bounds = replace(ADVICE_BOUNDS, max_at_once=1)
    service = AdviceService(history, FakeLayouts(facts), FakeClock(), bounds)
    first = Thread(target=service.advice, args=(SALES, FULL_ACCESS))
    first.start()
    assert is_asked.wait(20)
    with pytest.raises(GatewayBusy):
        service.advice(SALES, FULL_ACCESS)
    may_go_on.set()
    first.join(20)
    assert service.advice(SALES, FULL_ACCESS).advice == ()


def test_fields_of_masked_columns_are_masked() -> None:
    store = FakeMetricsStore()
    predicates = tuple(ScanPredicate(column, ((1, 1),)) for column in ("Card.number", "card2"))
    scanned = replace(scan(str(SALES), 1, 1), predicates=predicates)
    store.record([replace(short_record(FakeClock().now()), scans=(scanned,))])

    pattern = TablePattern.parse(str(SALES))
    grants = (Grant("r", Action.SELECT, pattern), Grant("r", Action.DESCRIBE, pattern))
    policies = PolicySet(1, grants, (), (ColumnMask("r", pattern, "card", "NULL"),), ())
    layouts = FakeLayouts(facts_of_empty_table)
    service = AdviceService(FakeQueryHistory(store), layouts, FakeClock(), ADVICE_BOUNDS)
    found = service.advice(SALES, RoleAccess(CompiledPolicies(policies), frozenset({"r"})))
    assert [column.column for column in found.workload.filtered_columns] == ["card2"]


def test_only_the_columns_that_most_scans_are_filtered_by_are_looked_at() -> None:
    asked: list[list[str]] = []

    class Noted(FakeLayouts):
        def layout(self, table: TableName, columns: Collection[str], bounds: LayoutBounds) -> TableLayout:
            asked.append(list(columns))
            return super().layout(table, columns, bounds)

    store = FakeMetricsStore()
    for columns in (("a", "b"), ("b", "c"), ("c", "b")):
        predicates = tuple(ScanPredicate(column, ((1, 1),)) for column in columns)
        scanned = replace(scan(str(SALES), 1, 1), predicates=predicates)
        store.record([replace(short_record(FakeClock().now()), scans=(scanned,))])
    bounds = replace(ADVICE_BOUNDS, options=replace(ADVICE_BOUNDS.options, max_columns=2))
    layouts = Noted(facts_of_empty_table)
    AdviceService(FakeQueryHistory(store), layouts, FakeClock(), bounds).advice(SALES, FULL_ACCESS)
    assert asked == [["b", "c"]]
