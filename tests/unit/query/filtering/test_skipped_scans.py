"""Scans that filters skip together are reported as 0 of their total, and no others are."""

from __future__ import annotations

from dataclasses import replace

from service.model.query.scan_metrics import Selection
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.skipped_scans import skipped_scans
from tests.fakes.engine import FakeEngine, engine_result
from tests.fakes.query_records import scan
from tests.unit.query.conftest import Bench

SALES, ITEM, DATES = (scan(f"lake.shop.{name}", 5, 0) for name in ("Sales", "item", "dates"))


def test_a_table_that_was_not_planned_is_skipped() -> None:
    result = replace(engine_result(scans=(scan("lake.shop.item", 5, 5),)), planned_tables=lambda: frozenset())
    assert skipped_scans(result, (DATES,), (SALES, ITEM, DATES)) == (SALES,)


def test_a_table_that_was_planned_and_eliminated_on_the_way_may_have_been_read() -> None:
    result = replace(engine_result(), planned_tables=lambda: frozenset({"lake.shop.sales"}))
    assert skipped_scans(result, (), (SALES, ITEM)) == (ITEM,)


def test_when_nobody_knows_the_plan_nothing_is_said() -> None:
    assert skipped_scans(engine_result(), (), (SALES, ITEM)) == ()


def test_the_plan_is_not_asked_for_when_all_scans_are_there() -> None:
    def never() -> frozenset[str]:
        raise AssertionError

    result = replace(engine_result(scans=(scan("lake.shop.sales", 5, 5),)), planned_tables=never)
    assert skipped_scans(result, (), (SALES,)) == ()


def test_the_engine_is_asked_for_the_totals_that_it_alone_knows(bench: Bench) -> None:
    reported = replace(DATES, metrics=replace(DATES.metrics, partitions=Selection(9, 0)))
    engine = FakeEngine(
        replace(
            engine_result(scans=(SALES,)), with_totals=lambda skipped: (reported,) * (skipped == (DATES,))
        )
    )
    query = bench.query()
    query.prune(PrunedQuery("pruned", rewritten_sql="pruned", skipped=(DATES,)))
    assert bench.run_pruned(query, engine).scans == (SALES, reported)


def test_a_pruned_query_lists_them(bench: Bench) -> None:
    engine = FakeEngine(replace(engine_result(), planned_tables=lambda: frozenset()))
    query = bench.query()
    query.prune(PrunedQuery("pruned", rewritten_sql="pruned", skipped=(DATES,), referenced=(SALES, DATES)))
    assert bench.run_pruned(query, engine).scans == (DATES, SALES)
