"""The metrics of a running gateway: exactly the listed ones, well-formed, and available while parts hang."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from pyiceberg.table import Table

from tests.deploy.shown_metrics import shown_metrics
from tests.deploy.strict_exposition import families
from tests.integration.asking import ask
from tests.integration.log_tables import lines, named, put
from tests.integration.running import RunningGateway
from tests.integration.scraping import Numbers, numbers, numbers_when, text_of

pytestmark = pytest.mark.integration

SCRAPED_WITHIN_S = 5.0
"""This is for a busy machine; usually, some milliseconds are enough."""


def is_sampled(found: Numbers) -> bool:
    """Returns whether parts, disk and JVM are in the metrics; a background thread samples them."""
    return {"sluice_part_up catalog:lake", "sluice_disk_free_bytes", "sluice_jvm_gc_share"} <= found.keys()


def test_a_gateway_shows_each_metric_that_is_listed_and_no_other(running: RunningGateway) -> None:
    numbers_when(running, is_sampled)
    found = families(text_of(running))
    shown = {f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in found}
    # Those of policies are there if policies decide.
    assert shown == {metric.name for metric in shown_metrics() if not metric.name.startswith("sluice_polic")}


def test_every_label_has_one_of_its_listed_values(running: RunningGateway) -> None:
    ask(running.client, "SELECT 1")
    running.client.get("/no/such/path")
    known = {metric.name.removesuffix("_total"): metric.label_values for metric in shown_metrics()}
    for family in families(text_of(running)):
        for sample in family.samples:
            for label, value in sample.labels.items():
                assert value in known[family.name][label], sample


def test_the_parts_the_machine_and_the_engine_have_numbers(running: RunningGateway) -> None:
    found = numbers_when(running, is_sampled)
    for part in ("engine", "queryWorkers", "metricsStore", "filterCache", "catalog:lake"):
        assert found[f"sluice_part_up {part}"] == 1
    assert 0 < found["sluice_disk_free_bytes"] < found["sluice_disk_size_bytes"]
    assert 0 < found["sluice_memory_used_bytes"] < found["sluice_memory_limit_bytes"]
    assert 0 < found["sluice_jvm_memory_used_bytes heap"] < found["sluice_jvm_memory_max_bytes heap"]
    assert found["sluice_jvm_memory_used_bytes metaspace"] > 10_000_000
    assert found["sluice_jvm_threads"] > 10
    assert found["sluice_jvm_process_resident_memory_bytes"] > 100_000_000
    assert found["sluice_http_connections"] >= 1
    assert found["sluice_pool_size ingest_log"] == 8


def test_a_query_is_counted_with_its_wait_and_its_request(running: RunningGateway) -> None:
    before = numbers(running)
    ask(running.client, "SELECT 1")
    name = "sluice_queries_total anonymous SUCCEEDED"
    after = numbers_when(running, lambda found: found[name] > before[name])
    assert after["sluice_query_queue_seconds_count"] > before["sluice_query_queue_seconds_count"]
    posted = "sluice_http_requests_total POST /query 2xx"
    assert after[posted] > before.get(posted, 0)


def test_the_lag_until_an_ingest_is_committed_is_counted(running: RunningGateway, log_table: Table) -> None:
    before = numbers(running)
    body = {"table": named(log_table), "writeSchema": ["id"], "records": [{"id": 1}, {"id": 2}]}
    assert running.client.post("/ingest", json=body).is_success
    name = "sluice_ingest_commit_lag_seconds_count"
    after = numbers_when(running, lambda found: found[name] > before[name])
    assert after["sluice_ingest_rows_total"] == before["sluice_ingest_rows_total"] + 2
    numbers_when(running, lambda found: found["sluice_ingest_oldest_seconds"] == 0)


def test_an_idle_stream_has_no_lag(running: RunningGateway, log_table: Table, inbox: Path) -> None:
    put(inbox, "a.json", lines([{"id": 1}]))
    before = numbers(running)["sluice_stream_batches_total"]
    source = {"directory": inbox.as_uri()}
    body = {"name": "metered", "table": named(log_table), "source": source, "interval": "100ms"}
    link = running.client.post("/streams", json=body).raise_for_status().json()["links"]["self"]
    try:
        numbers_when(running, lambda found: found["sluice_stream_batches_total"] == before + 1)
        numbers_when(running, lambda found: found["sluice_streams RUNNING"] >= 1)
        assert numbers(running)["sluice_streams_run_here"] >= 1
        # The lag grows until the next poll finds nothing more to read.
        numbers_when(running, lambda found: found["sluice_stream_lag_seconds"] > 3)
        then = numbers_when(running, lambda found: found["sluice_stream_lag_seconds"] < 3)
        assert then["sluice_stream_batches_total"] == before + 1
    finally:
        running.client.delete(link)


def test_the_numbers_are_there_while_the_jvm_hangs(running: RunningGateway) -> None:
    numbers_when(running, is_sampled)
    jvm = running.jvm()
    assert jvm is not None
    jvm.send_signal(signal.SIGSTOP)
    try:
        silent = numbers_when(running, lambda found: found["sluice_engine_silent_seconds"] > 1)
        assert silent["sluice_jvm_threads"] > 10
        began_s = time.monotonic()
        text_of(running)
        assert time.monotonic() - began_s < SCRAPED_WITHIN_S
    finally:
        jvm.send_signal(signal.SIGCONT)
    numbers_when(running, lambda found: found["sluice_engine_silent_seconds"] < 1)
