"""Requests are counted by route, whatever they contain."""

from __future__ import annotations

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import client_of

pytestmark = pytest.mark.anyio


async def shown(client: httpx.AsyncClient) -> list[str]:
    return (await client.get("/metrics")).text.splitlines()


async def test_a_request_is_counted_by_template_method_and_kind_of_status(client: httpx.AsyncClient) -> None:
    await client.post("/query", json={"sql": "select 1"})
    await client.get("/query/6f1d2a4e-8c35-4b0f-9a57-3d1c6e20b794")
    found = await shown(client)
    assert 'sluice_http_requests_total{method="POST",route="/query",status="2xx"} 1.0' in found
    assert 'sluice_http_requests_total{method="GET",route="/query/{query_id}",status="4xx"} 1.0' in found
    assert 'sluice_http_request_duration_seconds_count{method="POST",route="/query"} 1.0' in found
    # The only open request is the one for the metrics.
    assert "sluice_http_requests_open 1.0" in found


async def test_no_path_and_no_method_of_a_request_becomes_a_label(client: httpx.AsyncClient) -> None:
    await client.get("/no/such/path")
    await client.request("BREW", "/query")
    found = "\n".join(await shown(client))
    assert 'sluice_http_requests_total{method="OTHER",route="none",status="4xx"} 1.0' in found
    assert 'sluice_http_requests_total{method="OTHER",route="/query",status="4xx"} 1.0' in found
    assert "such" not in found
    assert "BREW" not in found


async def test_what_is_refused_before_its_route_is_known_counts_too() -> None:
    settings = Settings(api_tokens={"ann": "0" * 64})
    app = create_app(settings, FakeGateway)
    async with client_of(app) as client:
        assert (await client.get("/query")).status_code == 401
    text = app.state.app_context.process_metrics.exposition(is_ready=True).decode()
    assert 'sluice_http_requests_total{method="OTHER",route="none",status="4xx"} 1.0' in text


async def test_threads_for_requests_are_shown(client: httpx.AsyncClient) -> None:
    found = await shown(client)
    assert 'sluice_lane_busy{lane="calls"} 0.0' in found
    assert 'sluice_lane_size{lane="readers"} 1.0' in found


async def test_the_versions_are_labels(client: httpx.AsyncClient) -> None:
    [line] = [sample for sample in await shown(client) if sample.startswith("sluice_build_info")]
    assert 'spark="4' in line
    assert 'python="3.' in line
    assert line.endswith(" 1.0")
