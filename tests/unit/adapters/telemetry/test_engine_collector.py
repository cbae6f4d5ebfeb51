"""Metrics of the engine, including when it hangs or is gone."""

from __future__ import annotations

import os

from service.adapters.telemetry.engine_collector import EngineCollector
from service.model.operations.engine_signs import EngineLoss, EngineSigns, JvmSample
from tests.unit.adapters.telemetry.shown import shown

LOSSES = dict.fromkeys(EngineLoss, 0) | {EngineLoss.GARBAGE_COLLECTION: 2}
SAMPLE = JvmSample(
    heap_used_bytes=300,
    heap_max_bytes=1_000,
    metaspace_used_bytes=50,
    metaspace_max_bytes=0,
    direct_used_bytes=7,
    thread_count=80,
    collection_ms=1_500,
)


def test_the_jvm_is_shown_as_it_was_reported_last() -> None:
    found = shown(EngineCollector(lambda: EngineSigns(LOSSES, 4.5, SAMPLE, 0.25, os.getpid())))
    assert found["sluice_jvm_memory_used_bytes heap"] == 300
    assert found["sluice_jvm_memory_used_bytes metaspace"] == 50
    assert found["sluice_jvm_memory_used_bytes direct"] == 7
    assert found["sluice_jvm_memory_max_bytes heap"] == 1_000
    assert found["sluice_jvm_threads"] == 80
    assert found["sluice_jvm_gc_seconds_total"] == 1.5
    assert found["sluice_jvm_gc_share"] == 0.25
    assert found["sluice_engine_silent_seconds"] == 4.5
    assert found["sluice_jvm_process_resident_memory_bytes"] > 1_000_000


def test_an_area_without_a_bound_shows_none() -> None:
    found = shown(EngineCollector(lambda: EngineSigns(LOSSES, jvm=SAMPLE)))
    assert [series for series in found if series.startswith("sluice_jvm_memory_max_bytes")] == [
        "sluice_jvm_memory_max_bytes heap"
    ]


def test_every_reason_is_counted_from_the_start() -> None:
    found = shown(EngineCollector(lambda: EngineSigns(LOSSES)))
    replaced = {name: count for name, count in found.items() if name.startswith("sluice_engine_replaced")}
    assert replaced == {
        "sluice_engine_replaced_total PROCESS_ENDED": 0,
        "sluice_engine_replaced_total NOT_RESPONDING": 0,
        "sluice_engine_replaced_total GARBAGE_COLLECTION": 2,
        "sluice_engine_replaced_total GIVEN_UP": 0,
    }


def test_without_an_engine_nothing_of_a_jvm_is_shown() -> None:
    found = shown(EngineCollector(lambda: EngineSigns(LOSSES)))
    assert not [series for series in found if series.startswith("sluice_jvm")]
