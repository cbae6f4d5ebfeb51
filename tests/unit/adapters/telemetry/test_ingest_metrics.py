"""Metrics of ingests and commit rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import uuid4

from prometheus_client.parser import text_string_to_metric_families

from service.adapters.telemetry.query_metrics import QueryMetrics
from service.model.ingest.commit_rounds import IngestBacklog
from service.model.ingest.writing import Committable, WriteResult
from tests.fakes.ingests import LOGS, ORDERS, ingest_of, write_result


def numbers(metrics: QueryMetrics) -> Mapping[str, float]:
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.exposition({}).decode())
        for sample in family.samples
    }


def a_round(*results: WriteResult, ingests: int = 1) -> Committable:
    return Committable(LOGS, uuid4(), tuple(uuid4() for _ in range(ingests)), results)


def test_every_state_has_a_number_from_the_start() -> None:
    found = numbers(QueryMetrics())
    for state in ("ACCEPTED", "COMMITTED", "FAILED"):
        assert found[f"sluice_ingests_total {state}"] == 0
    assert found["sluice_commit_rounds_total"] == found["sluice_ingests_waiting"] == 0


def test_an_accepted_ingest_counts_its_rows_files_and_bytes() -> None:
    metrics = QueryMetrics()
    record = ingest_of([write_result(LOGS, 2), write_result(ORDERS, 3)])
    metrics.ingests.accepted(replace(record, write_ms=300))
    found = numbers(metrics)
    assert found["sluice_ingests_total ACCEPTED"] == 1
    assert found["sluice_ingest_files_total"] == 5
    assert found["sluice_ingest_rows_total"] == 50
    assert found["sluice_ingest_bytes_total"] == 5_000
    assert found["sluice_ingest_write_seconds_sum"] == 0.3


def test_a_round_counts_its_time_its_ingests_and_its_write_targets() -> None:
    metrics = QueryMetrics()
    results = [write_result(column_ids=(number % 7,)) for number in range(20)]
    metrics.ingests.round_ended(a_round(*results, ingests=20), None, 120)
    found = numbers(metrics)
    assert found["sluice_ingests_total COMMITTED"] == 20
    assert found["sluice_commit_rounds_total"] == 1
    assert found["sluice_commit_seconds_sum"] == 0.12
    assert found["sluice_commit_round_ingests_sum"] == 20
    assert found["sluice_commit_round_write_targets_sum"] == 7


def test_a_refused_round_counts_by_its_code_and_has_no_commit_time() -> None:
    metrics = QueryMetrics()
    metrics.ingests.round_ended(a_round(write_result(), ingests=3), "TABLE_CHANGED", 50)
    found = numbers(metrics)
    assert found["sluice_commit_rounds_refused_total TABLE_CHANGED"] == 1
    assert found["sluice_commit_rounds_total"] == found["sluice_commit_seconds_count"] == 0
    assert found["sluice_ingests_total COMMITTED"] == 0


def test_ingests_that_were_refused_count_also_where_their_round_is_committed() -> None:
    metrics = QueryMetrics()
    metrics.ingests.failed(1)
    metrics.ingests.round_ended(a_round(write_result(), ingests=2), None, 50)
    found = numbers(metrics)
    assert (found["sluice_ingests_total FAILED"], found["sluice_ingests_total COMMITTED"]) == (1, 2)
    assert found["sluice_commit_rounds_total"] == 1


def test_refused_requests_and_rejected_records_are_counted() -> None:
    metrics = QueryMetrics()
    metrics.ingests.refused("RECORDS_INVALID")
    metrics.ingests.rejected(3)
    found = numbers(metrics)
    assert found["sluice_ingests_refused_total RECORDS_INVALID"] == 1
    assert found["sluice_ingest_rejected_records_total"] == 3


def test_what_waits_is_as_it_is_now() -> None:
    metrics = QueryMetrics()
    metrics.ingests.backlog(IngestBacklog(8, 3))
    metrics.ingests.backlog(IngestBacklog(5, 2, oldest_ms=90_000))
    found = numbers(metrics)
    assert (found["sluice_ingests_waiting"], found["sluice_ingest_tables_waiting"]) == (5, 2)
    assert found["sluice_ingest_oldest_seconds"] == 90


def test_how_long_ingests_waited_and_why_rounds_did_is_counted() -> None:
    metrics = QueryMetrics()
    metrics.ingests.committed_after([400, 1_600])
    metrics.ingests.round_postponed("CATALOG_DOWN")
    found = numbers(metrics)
    assert found["sluice_ingest_commit_lag_seconds_sum"] == 2
    assert found["sluice_ingest_commit_lag_seconds_count"] == 2
    assert found["sluice_commit_rounds_postponed_total CATALOG_DOWN"] == 1
