"""The trace ids in a request's log line, its problem and its explanation."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import httpx
import pytest

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.bootstrap.tracing import traced
from service.errors.unavailable import EngineNotReady
from tests.collector import collector
from tests.fakes.gateway import FakeGateway
from tests.unit.api.bootstrap.test_logs import lines
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

TRACE = "0af7651916cd43dd8448eb211c80319c"
SENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


def request_line(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    [line] = [line for line in lines(capsys) if line["event"] == "request_ended"]
    return line


async def test_off_the_callers_trace_is_in_lines_and_problems(
    client: httpx.AsyncClient, gateway: FakeGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    gateway.queries.refusal = EngineNotReady()
    response = await client.post("/query", json={"sql": "select 1"}, headers=SENT)
    assert (response.status_code, response.json()["traceId"]) == (503, TRACE)
    assert request_line(capsys)["trace_id"] == TRACE


async def test_off_and_without_a_trace_there_is_none(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    response = await client.get("/nowhere", headers={"traceparent": "00-is-none-01"})
    assert response.status_code == 404
    assert "traceId" not in response.json()
    assert "trace_id" not in request_line(capsys)


@pytest.mark.parametrize("accept", ["application/json", "text/plain", "text/html"])
async def test_an_explanation_has_the_trace_that_sent_the_query(
    client: httpx.AsyncClient, accept: str
) -> None:
    sent = await client.post("/query", json={"sql": "select 1"}, headers=SENT)
    untraced = await client.post("/query", json={"sql": "select 1"})
    links = [response.json()["links"]["explain"] for response in (sent, untraced)]
    reported, silent = [await client.get(link, headers={"Accept": accept}) for link in links]
    assert TRACE in reported.text
    assert "race <code>" not in silent.text
    assert "trace:" not in silent.text
    if accept == "application/json":
        assert (reported.json()["traceId"], silent.json()["traceId"]) == (TRACE, None)


async def test_on_each_request_has_a_trace_and_a_span(
    running: Running, gateway: FakeGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    gateway.queries.failures["bad"] = EngineNotReady()
    with collector() as found:
        settings = Settings(traces_endpoint=found.url)
        with traced(settings):
            async with running(settings) as client:
                answered = await client.post("/query", json={"sql": "select 1"}, headers=SENT)
                failed = await client.post("/query", json={"sql": "bad"})
                await client.get("/healthz")
                await client.get(f"/explain/{answered.json()['queryId']}")
    posts = found.named("POST /query")
    assert [post.trace_id for post in posts] == [TRACE, failed.json()["traceId"]]
    assert posts[0].attributes["sluice.query_id"] == answered.json()["queryId"]
    assert posts[0].attributes["http.response.status_code"] == 200
    assert posts[1].error == "503"
    # Probes have no spans.
    assert {span.name for span in found.spans} == {"POST /query", "GET /explain/{query_id}"}
    logged = [line["trace_id"] for line in lines(capsys) if line["event"] == "request_ended"]
    assert logged[:2] == [post.trace_id for post in posts]


async def test_the_line_of_a_request_says_who_asked_what_of_which_tables(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    response = await client.post("/query?secret=1", content=b'{"sql": "select 1"}', headers=_JSON)
    line = request_line(capsys)
    assert line.keys() == {
        *("event", "level", "logger", "timestamp", "request_id", "query_id", "tables"),
        *("method", "path", "route", "status", "caller", "bytes_in", "bytes_out", "elapsed_ms"),
    }
    assert (line["method"], line["path"], line["route"], line["status"]) == ("POST", "/query", "/query", 200)
    assert (line["caller"], line["tables"]) == ("anonymous", ["lake.tpcds.store_returns"])
    assert (line["bytes_in"], line["bytes_out"]) == (19, len(response.content))


_JSON = {"Content-Type": "application/json"}


async def test_the_line_of_an_ingest_has_its_tables(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    body = {"table": "lake.logs.events", "writeSchema": ["a"], "records": [{"a": 1}]}
    response = await client.post("/ingest", json=body)
    line = request_line(capsys)
    assert line["ingest_id"] == response.json()["ingestId"]
    assert (line["route"], line["tables"]) == ("/ingest", ["lake.logs.events"])


async def test_ids_in_a_path_are_no_part_of_its_route(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    await client.get("/query/00000000-0000-0000-0000-000000000000")
    line = request_line(capsys)
    assert (line["route"], line["status"]) == ("/query/{query_id}", 404)


@pytest.mark.parametrize("path", ["/healthz", "/livez"])
async def test_probes_are_shown_to_those_who_look_closely(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    await client.get(path)
    assert [line for line in lines(capsys) if line["event"] == "request_ended"] == []
    configure_logging(LogLevel.DEBUG, LogFormat.JSON)
    await client.get(path)
    assert request_line(capsys)["path"] == path


# The Redis client itself imports OpenTelemetry's metrics, if they are installed.
OF_TRACES = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "opentelemetry.instrumentation")


def test_off_means_that_nothing_that_traces_is_imported() -> None:
    program = "import sys, api.cli.commands.serve, api.bootstrap.wiring.build_gateway, api.http.app\n"
    program += "from api.bootstrap.settings import Settings\n"
    program += "from api.bootstrap.tracing import traced\nwith traced(Settings()): pass\n"
    program += f"print([module for module in sys.modules if module.startswith({OF_TRACES!r})])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ended.stdout.strip() == "[]", ended.stderr
