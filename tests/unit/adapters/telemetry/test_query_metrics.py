"""Metrics of query records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from structlog.testing import capture_logs

from service.adapters.telemetry.metered_journal import MeteredJournal
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.model.filters.key_set import FilterSource
from service.model.operations.caller_classes import CallerClasses
from service.model.query.query import QueryError, QueryRecord, QueryState
from service.model.query.scan_metrics import Selection
from service.model.query.verification import Verification
from tests.fakes.journal import FakeJournal
from tests.fakes.query_metrics import FakeQueryMetrics
from tests.fakes.query_records import applied, full_record, scan, short_record


def numbers(metrics: QueryMetrics) -> Mapping[str, float]:
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.exposition({}).decode())
        for sample in family.samples
    }


def counted(*records: QueryRecord) -> Mapping[str, float]:
    metrics = QueryMetrics()
    for record in records:
        metrics.count(record)
    return numbers(metrics)


def test_every_final_state_has_a_number_from_the_start() -> None:
    states = {name: count for name, count in counted().items() if name.startswith("sluice_queries_total")}
    assert states == {
        f"sluice_queries_total {caller_class} {state}": 0
        for caller_class in ("anonymous", "authenticated")
        for state in ("SUCCEEDED", "FAILED", "CANCELED")
    }


def test_a_query_is_counted_by_its_state_and_its_time() -> None:
    slow = replace(short_record(), queued_ms=1_000, planning_ms=500, running_ms=1_500)
    found = counted(slow, replace(short_record(), state=QueryState.CANCELED))
    assert (
        found["sluice_queries_total authenticated SUCCEEDED"],
        found["sluice_queries_total authenticated CANCELED"],
    ) == (1, 1)
    assert found["sluice_query_duration_seconds_sum"] == 3
    assert found["sluice_query_duration_seconds_bucket 2.5"] == 1
    assert found["sluice_query_duration_seconds_bucket 5.0"] == 2


def test_the_time_of_a_query_is_distinguished() -> None:
    slow = replace(short_record(), queued_ms=1_000, planning_ms=500, running_ms=1_500)
    never_ran = replace(short_record(), queued_ms=4_000, planning_ms=0, running_ms=0)
    found = counted(slow, never_ran)
    assert (found["sluice_query_queue_seconds_sum"], found["sluice_query_queue_seconds_count"]) == (5, 2)
    assert (found["sluice_query_planning_seconds_sum"], found["sluice_query_planning_seconds_count"]) == (
        0.5,
        1,
    )
    assert (found["sluice_query_running_seconds_sum"], found["sluice_query_running_seconds_count"]) == (
        1.5,
        1,
    )


def test_failures_are_counted_by_their_code() -> None:
    failed = replace(short_record(), state=QueryState.FAILED, error=QueryError("TABLE_NOT_FOUND", "None."))
    assert counted(failed, short_record())["sluice_query_errors_total TABLE_NOT_FOUND"] == 1


def test_callers_are_distinguished_by_their_class_and_never_by_their_name() -> None:
    metrics = QueryMetrics(CallerClasses({"reports": "dashboards"}))
    for caller in ("reports", "ann", "bob", "anonymous"):
        metrics.count(replace(short_record(), caller=caller))
    found = numbers(metrics)
    assert found["sluice_queries_total dashboards SUCCEEDED"] == 1
    assert found["sluice_queries_total authenticated SUCCEEDED"] == 2
    assert found["sluice_queries_total anonymous SUCCEEDED"] == 1
    assert not [name for name in found if "reports" in name or "ann" in name.split()]


def test_no_line_says_since_when_something_is_counted() -> None:
    metrics = QueryMetrics()
    metrics.count(full_record())
    assert b"_created" not in metrics.exposition({})


class Broken(Collector):
    def collect(self) -> Iterable[Metric]:
        raise OSError("the disk hangs")


def test_a_collector_that_fails_costs_no_other_number_and_is_reported_once() -> None:
    metrics = QueryMetrics()
    metrics.watch(Broken())
    with capture_logs() as logs:
        assert "sluice_filter_cache_hits_total" in numbers(metrics)
        assert numbers(metrics)
    assert [log["event"] for log in logs] == ["metrics_not_collected"]


def test_filters_are_counted_by_source_and_reason_and_only_collections_by_time() -> None:
    cached = replace(applied("df3"), source=FilterSource.CACHED)
    found = counted(full_record(), replace(short_record(), filters=(cached, cached)))
    assert found["sluice_filters_total APPLIED COLLECTED"] == 1
    assert found["sluice_filters_total APPLIED CACHED"] == 2
    assert found["sluice_filters_total THRESHOLD_EXCEEDED NONE"] == 1
    assert found["sluice_filter_cache_hits_total"] == 2
    assert found["sluice_filter_collect_seconds_count"] == 1


def test_what_scans_left_out_is_summed_and_never_below_nothing() -> None:
    odd = scan("lake.a.t", 1, 1)
    odd = replace(odd, metrics=replace(odd.metrics, data_files=Selection(1, 5)))
    found = counted(replace(short_record(), scans=(scan("lake.a.f", 10, 4), odd)))
    assert found["sluice_scan_data_files_total"] == 31
    assert found["sluice_scan_data_files_skipped_total"] == 18


def test_two_meters_share_no_numbers() -> None:
    first, second = QueryMetrics(), QueryMetrics()
    first.count(short_record())
    assert numbers(second)["sluice_queries_total authenticated SUCCEEDED"] == 0


def test_open_queries_are_as_they_are_now() -> None:
    metrics = QueryMetrics()
    metrics.exposition({QueryState.RUNNING: 3})
    assert b'sluice_queries_open{state="RUNNING"} 1.0' in metrics.exposition({QueryState.RUNNING: 1})


def test_no_record_is_lost_when_many_threads_count() -> None:
    metrics = QueryMetrics()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(metrics.count, [full_record()] * 2_000))
    assert numbers(metrics)["sluice_queries_total authenticated FAILED"] == 2_000


def test_a_record_is_counted_on_its_way_and_goes_on() -> None:
    journal, metrics = FakeJournal(), FakeQueryMetrics()
    metered = MeteredJournal(journal, metrics)
    record = full_record()
    metered.append(record)
    assert journal.records == metrics.records == [record]
    assert record.request_id is not None
    assert metered.find(record.query_id) == metered.find_request("ann", record.request_id) == record
    metered.close()
    assert journal.is_closed


def test_verifications_are_counted_by_what_came_of_them() -> None:
    assert counted()["sluice_verifications_total NOT_COMPARABLE"] == 0
    found = counted(short_record(), replace(short_record(), verification=Verification.NOT_COMPARABLE))
    outcomes = {name: count for name, count in found.items() if name.startswith("sluice_verifications_total")}
    assert sum(outcomes.values()) == outcomes["sluice_verifications_total NOT_COMPARABLE"] == 1
