from __future__ import annotations

from dataclasses import replace

from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.filter_record import FilterOutcome, FilterRecord, Reason
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.tables.tables import TableName
from service.pruning.detection import FilterAssignment
from service.query.filtering.pruned_query import PrunedQuery, filter_record
from service.query.filtering.unfiltered_scans import unfiltered_scans
from tests.fakes.filters import date_filter

NOTHING = Selection(0, 0)
METRICS = PruningMetrics(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, planning_ms=0)
ITEM, STORE = TableName("lake", "tpcds", "item"), TableName("lake", "tpcds", "store")


def scan(table: str, snapshot_id: int | None = 1) -> ScanRecord:
    return ScanRecord(table, snapshot_id, METRICS)


def left(table: TableName, reason: Reason, *columns: str) -> FilterRecord:
    probe, build = Probe(table, columns, (), 1), Build((), (), "", ())
    return FilterRecord("", JoinType.NONE, probe, build, FilterSource.NONE, FilterForm.NONE, reason)


def test_each_reference_without_a_candidate_is_reported() -> None:
    found = [
        left(ITEM, Reason.NO_EQUI_JOIN),
        left(ITEM, Reason.PROBE_NOT_PRUNABLE, "i_item_sk"),
        left(STORE, Reason.NO_EQUI_JOIN),
    ]
    pruned = PrunedQuery("", unfiltered=tuple(found))
    scans = [scan("lake.tpcds.Item"), scan("lake.tpcds.item", 2), scan("lake.tpcds.behind_a_view")]
    *reported, unknown = unfiltered_scans(pruned, scans)
    assert reported == found
    assert (unknown.probe.table.table, unknown.reason) == ("behind_a_view", Reason.SOURCE_NOT_SUPPORTED)
    assert unknown.join_type is JoinType.NONE


def test_a_second_reference_is_reported_beside_the_candidates_of_the_first() -> None:
    found = filter_record(FilterAssignment(date_filter(), 1), FilterOutcome.none(Reason.COLLECT_FAILED))
    second = left(found.probe.table, Reason.NO_EQUI_JOIN)
    pruned = PrunedQuery("", filters=(found,), unfiltered=(second,))
    assert list(unfiltered_scans(pruned, [scan("lake.tpcds.store_sales")])) == [second]


def test_a_table_of_which_nothing_was_scanned_is_reported_too() -> None:
    sales = replace(scan("lake.tpcds.store_sales", 7), has_run=False)
    pruned = PrunedQuery(
        "", unfiltered=(left(ITEM, Reason.NO_EQUI_JOIN),), referenced=(sales,), otherwise=Reason.DISABLED
    )
    found = [
        (str(scan.probe.table), scan.probe.snapshot_id, scan.reason) for scan in unfiltered_scans(pruned, ())
    ]
    assert found == [
        ("lake.tpcds.item", 1, Reason.NO_EQUI_JOIN),
        ("lake.tpcds.store_sales", 7, Reason.DISABLED),
    ]


def test_a_table_with_a_candidate_is_reported_there() -> None:
    found = filter_record(FilterAssignment(date_filter(), 1), FilterOutcome.none(Reason.COLLECT_FAILED))
    pruned = PrunedQuery("", filters=(found,))
    assert list(unfiltered_scans(pruned, [scan("lake.tpcds.store_sales")])) == []
    assert len(list(unfiltered_scans(replace(pruned, filters=()), [scan("lake.tpcds.store_sales")]))) == 1
