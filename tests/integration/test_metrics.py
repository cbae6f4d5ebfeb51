"""The metrics of a running gateway: exactly the listed ones, well-formed, and available while parts hang."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping

import pytest

from tests.deploy.shown_metrics import shown_metrics
from tests.deploy.strict_exposition import families
from tests.integration.asking import ask
from tests.integration.running import RunningGateway, until

pytestmark = pytest.mark.integration

Numbers = Mapping[str, float]
SCRAPED_WITHIN_S = 5.0
"""This is for a busy machine; usually, some milliseconds are enough."""


def text_of(gateway: RunningGateway) -> str:
    return gateway.client.get("/metrics").raise_for_status().text


def numbers(gateway: RunningGateway) -> Numbers:
    """Returns each series by its name and label values."""
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in families(text_of(gateway))
        for sample in family.samples
    }


def numbers_when(gateway: RunningGateway, are_so: Callable[[Numbers], bool], within_s: float = 60) -> Numbers:
    """Returns the first metrics that fulfill the condition."""

    def found() -> Numbers | None:
        now = numbers(gateway)
        return now if are_so(now) else None

    numbers_then = until(found, within_s)
    assert numbers_then is not None
    return numbers_then


def is_sampled(found: Numbers) -> bool:
    """Returns whether parts, disk and JVM are in the metrics; a background thread samples them."""
    return {"sluice_part_up catalog:lake", "sluice_disk_free_bytes", "sluice_jvm_gc_share"} <= found.keys()


def test_a_gateway_shows_each_metric_that_is_listed_and_no_other(running: RunningGateway) -> None:
    numbers_when(running, is_sampled)
    found = families(text_of(running))
    shown = {f"{each.name}_total" if each.type == "counter" else each.name for each in found}
    assert shown == {each.name for each in shown_metrics()}


def test_every_label_has_one_of_its_listed_values(running: RunningGateway) -> None:
    ask(running.client, "SELECT 1")
    running.client.get("/no/such/path")
    known = {each.name.removesuffix("_total"): each.label_values for each in shown_metrics()}
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
