from __future__ import annotations

from dataclasses import replace

from service.model.filtering import FilterOutcome, JoinType, Reason
from service.model.pruning import PruningMetrics, ScanRecord, Selection
from service.model.tables import TableName
from service.pruning.detection import Placement
from service.query.pruned_query import PrunedQuery, filter_record
from service.query.unfiltered_scans import unfiltered_scans
from tests.fakes.filters import date_filter

NOTHING = Selection(0, 0)
METRICS = PruningMetrics(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, planning_ms=0)
ITEM = TableName("lake", "tpcds", "item")


def scan(table: str, snapshot_id: int | None = 1) -> ScanRecord:
    return ScanRecord(table, snapshot_id, METRICS)


def test_each_table_without_a_candidate_is_told_once_with_its_reason() -> None:
    pruned = PrunedQuery("", left_out={ITEM: Reason.NO_EQUI_JOIN})
    scans = [scan("lake.tpcds.Item"), scan("lake.tpcds.item", 2), scan("lake.tpcds.behind_a_view")]
    found = list(unfiltered_scans(pruned, scans))
    assert [(each.probe.table.table, each.reason) for each in found] == [
        ("Item", Reason.NO_EQUI_JOIN),
        ("behind_a_view", Reason.SOURCE_NOT_SUPPORTED),
    ]
    assert {each.join_type for each in found} == {JoinType.NONE}


def test_a_table_of_which_nothing_was_scanned_is_told_too() -> None:
    sales = replace(scan("lake.tpcds.store_sales", 7), has_run=False)
    pruned = PrunedQuery(
        "", left_out={ITEM: Reason.NO_EQUI_JOIN}, mentioned=(sales,), otherwise=Reason.DISABLED
    )
    found = [
        (str(each.probe.table), each.probe.snapshot_id, each.reason) for each in unfiltered_scans(pruned, ())
    ]
    assert found == [
        ("lake.tpcds.item", None, Reason.NO_EQUI_JOIN),
        ("lake.tpcds.store_sales", 7, Reason.DISABLED),
    ]


def test_a_table_with_a_candidate_is_told_there() -> None:
    found = filter_record(Placement(date_filter(), 1), FilterOutcome.none(Reason.COLLECT_FAILED))
    pruned = PrunedQuery("", filters=(found,))
    assert list(unfiltered_scans(pruned, [scan("lake.tpcds.store_sales")])) == []
    assert len(list(unfiltered_scans(replace(pruned, filters=()), [scan("lake.tpcds.store_sales")]))) == 1
