from __future__ import annotations

import hashlib

import httpx
import pytest

from api.bootstrap.settings import Settings
from service.errors.query_errors import QueryFailed
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio


async def lines(client: httpx.AsyncClient) -> list[str]:
    response = await client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return response.text.splitlines()


async def test_numbers_are_there_before_anything_has_happened(client: httpx.AsyncClient) -> None:
    found = await lines(client)
    assert 'sluice_queries_total{caller_class="anonymous",state="FAILED"} 0.0' in found
    assert "sluice_filter_cache_hits_total 0.0" in found
    assert 'sluice_query_duration_seconds_bucket{le="+Inf"} 0.0' in found


async def test_queries_filters_and_what_scans_left_out_are_counted(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.failures["select 1/0"] = QueryFailed()
    for sql in ("select 1", "select 1/0"):
        await client.post("/query", json={"sql": sql})
    found = await lines(client)
    for line in (
        "# TYPE sluice_queries_total counter",
        'sluice_queries_total{caller_class="anonymous",state="SUCCEEDED"} 1.0',
        'sluice_queries_total{caller_class="anonymous",state="FAILED"} 1.0',
        'sluice_filters_total{reason="APPLIED",source="COLLECTED"} 2.0',
        'sluice_filters_total{reason="THRESHOLD_EXCEEDED",source="NONE"} 2.0',
        "sluice_scan_data_files_skipped_total 3274.0",
        "sluice_scan_bytes_total 5.12e+07",
        "# TYPE sluice_filter_collect_seconds histogram",
        'sluice_filter_collect_seconds_bucket{le="0.01"} 0.0',
        'sluice_filter_collect_seconds_bucket{le="0.025"} 2.0',
        "sluice_filter_collect_seconds_sum 0.034",
        "sluice_filter_collect_seconds_count 2.0",
        "sluice_query_duration_seconds_count 2.0",
    ):
        assert line in found


async def test_with_tokens_a_monitor_needs_one_too(running: Running) -> None:
    token = "a token of the monitor"
    settings = Settings(api_tokens={"monitor": hashlib.sha256(token.encode()).hexdigest()})
    async with running(settings) as client:
        assert (await client.get("/metrics")).status_code == 401
        answer = await client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
