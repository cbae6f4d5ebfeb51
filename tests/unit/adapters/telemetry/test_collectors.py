"""Metrics of pools, caches, parts, the disk, records and streams."""

from __future__ import annotations

from pathlib import Path

from service.adapters.telemetry.cache_collector import CacheCollector
from service.adapters.telemetry.disk_collector import DiskCollector, disk_room
from service.adapters.telemetry.filter_cache_collector import FilterCacheCollector
from service.adapters.telemetry.part_collector import PartCollector
from service.adapters.telemetry.pool_collector import PoolCollector
from service.adapters.telemetry.record_collector import RecordCollector, RecordsUse
from service.adapters.telemetry.stream_metrics import StreamCollector
from service.caches import Caches
from service.model.ingest.stream_standing import StreamStanding
from service.model.ingest.streams import StreamState
from service.model.operations.health import PartHealth, PartState
from service.model.operations.usage import CacheUse, PoolUse
from tests.unit.adapters.telemetry.shown import shown


def test_pools_are_shown_by_their_names() -> None:
    pools = PoolCollector()
    pools.add("query_workers", lambda: PoolUse(3, 5, 7))
    pools.add("ingest_log", lambda: PoolUse(0, 8))
    assert shown(pools) == {
        "sluice_pool_busy query_workers": 3,
        "sluice_pool_busy ingest_log": 0,
        "sluice_pool_size query_workers": 5,
        "sluice_pool_size ingest_log": 8,
        "sluice_pool_waiting query_workers": 7,
        "sluice_pool_waiting ingest_log": 0,
    }


def test_caches_report_hits_where_they_are_counted() -> None:
    caches = Caches()
    caches.add("tables", lambda: CacheUse(2, 300, 1_000, 9, 4))
    caches.add("results", lambda: CacheUse(1, 50, 100))
    caches.add("kept_rows", lambda: CacheUse(1, 50, 100, 0, 1, 7))
    found = shown(CacheCollector(caches))
    assert found["sluice_cache_requests_total tables HIT"] == 9
    assert found["sluice_cache_requests_total tables MISS"] == 4
    assert not [series for series in found if series.startswith("sluice_cache_requests_total results")]
    assert found["sluice_cache_evictions_total kept_rows"] == 7
    assert not [series for series in found if series.startswith("sluice_cache_evictions_total tables")]
    assert (found["sluice_cache_entries results"], found["sluice_cache_bytes results"]) == (1, 50)
    assert (found["sluice_cache_max_bytes tables"], found["sluice_cache_max_bytes results"]) == (1_000, 100)


def test_a_part_is_up_or_not_and_unknown_before_the_first_look() -> None:
    assert shown(PartCollector(lambda: None)) == {}
    parts = [
        PartHealth("engine", PartState.STARTING),
        PartHealth("metricsStore", PartState.DOWN, "It does not answer."),
        PartHealth("catalog:lake", PartState.UP),
    ]
    assert shown(PartCollector(lambda: parts)) == {
        "sluice_part_up engine": 0,
        "sluice_part_up metricsStore": 0,
        "sluice_part_up catalog:lake": 1,
    }


def test_the_room_on_a_disk_is_that_of_its_file_system(tmp_path: Path) -> None:
    room = disk_room(tmp_path)
    assert 0 < room.free_bytes < room.size_bytes
    assert shown(DiskCollector(lambda: room)) == {
        "sluice_disk_free_bytes": room.free_bytes,
        "sluice_disk_size_bytes": room.size_bytes,
    }
    assert shown(DiskCollector(lambda: None)) == {}


def test_records_that_wait_and_those_that_are_lost_are_shown() -> None:
    assert shown(RecordCollector(lambda: RecordsUse(3, 10, 2))) == {
        "sluice_query_records_waiting": 3,
        "sluice_query_records_capacity": 10,
        "sluice_query_records_dropped_total": 2,
    }


def test_failures_of_the_filter_cache_are_shown_by_their_kind() -> None:
    assert shown(FilterCacheCollector(lambda: {"REFUSED": 1, "NO_ANSWER": 0})) == {
        "sluice_filter_cache_errors_total REFUSED": 1,
        "sluice_filter_cache_errors_total NO_ANSWER": 0,
    }


def test_streams_are_shown_by_state_with_the_longest_lag() -> None:
    counts = {StreamState.RUNNING: 2, StreamState.STOPPED: 0, StreamState.FAILED: 1}
    assert shown(StreamCollector(lambda: StreamStanding(counts, 1, 12.5, 400))) == {
        "sluice_streams RUNNING": 2,
        "sluice_streams STOPPED": 0,
        "sluice_streams FAILED": 1,
        "sluice_streams_run_here": 1,
        "sluice_stream_lag_seconds": 12.5,
        "sluice_stream_lag_messages": 400,
    }
