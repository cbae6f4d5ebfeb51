"""Starts, stops and crashes of a gateway, on one data folder."""

from __future__ import annotations

import json
import os
import socket
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from shutil import which
from uuid import uuid4

import httpx
import psutil
import pytest

from api.cli.stop_deadline import STOPPED_WITHIN_S
from tests.integration.asking import ask, explain, post, problem, rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.guarded import Guarded
from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.running import SLOW, SLOW_ROWS, RunningGateway, run_sluice
from tests.polling import until

pytestmark = pytest.mark.integration

SETTINGS = {"SLUICE_SPARK_MASTER": "local[2]", "SLUICE_SPARK_DRIVER_MEMORY": "1g"}
# A stop waits for its query, however slow the machine is.
PATIENT = {"SLUICE_SHUTDOWN_TIMEOUT_S": "120"}
SLACK_S = 10


@pytest.mark.timeout(300)
def test_a_data_folder_survives_a_stop_and_a_crash(folder: Path) -> None:
    data_dir, request_id = folder / "lifecycle", str(uuid4())

    first = RunningGateway.start(data_dir, SETTINGS | PATIENT)
    try:
        _make_table(data_dir)
        answer = ask(first.client, "SELECT sum(return_id) FROM shop.returns", requestId=request_id)
        assert answer["result"]["rows"] == [[41]]
        before = explain(first.client, answer["queryId"])
        _a_stop_lets_a_running_query_finish(first)
    finally:
        first.kill()

    second = RunningGateway.start(data_dir, SETTINGS)
    try:
        # The second gateway knows what the first one recorded.
        assert explain(second.client, answer["queryId"]) == before
        again = post(second.client, "SELECT sum(return_id) FROM shop.returns", requestId=request_id)
        # It is the same query and never runs again; its result was lost with the first process.
        assert problem(again, 410, "RESULT_EXPIRED")["queryId"] == answer["queryId"]
        problem(post(second.client, "SELECT 2", requestId=request_id), 409, "REQUEST_ID_REUSED")
        jvm = second.jvm()
        assert jvm is not None
        second.kill()
        _, alive = psutil.wait_procs([jvm], timeout=30)
        assert alive == [], "the JVM outlives its gateway"
    finally:
        second.kill()

    third = RunningGateway.start(data_dir, SETTINGS)
    try:
        assert rows(third.client, "SELECT sum(return_id) FROM shop.returns") == [[41]]
        assert explain(third.client, answer["queryId"])["scans"] == before["scans"]
        assert third.stop() == 0
        until(lambda: third.own_processes() == [], within_s=15)
    finally:
        third.kill()


def _make_table(data_dir: Path) -> None:
    with closing(embedded_catalog(data_dir)) as catalog:
        catalog.create_namespace("shop")
        make(catalog, "shop.returns", RETURNS).append(returns_row(41))


def _a_stop_lets_a_running_query_finish(gateway: RunningGateway) -> None:
    body = {"sql": SLOW, "waitTimeout": "50s", "requestId": str(uuid4())}
    address = httpx.URL(gateway.url)
    with closing(HTTPConnection(address.host, address.port, timeout=90)) as waiting:
        # A plain connection sends the request before anything else is asked.
        waiting.request("POST", "/query", json.dumps(body), {"Content-Type": "application/json"})
        until(lambda: _runs_already(gateway.client, body))
        gateway.process.terminate()
        answer = waiting.getresponse()
        assert (answer.status, json.load(answer)["result"]["rows"]) == (200, SLOW_ROWS)
    assert gateway.ended() == 0, gateway.log_tail()
    until(lambda: gateway.own_processes() == [], within_s=15)
    assert gateway.log_lines()


def _runs_already(client: httpx.Client, body: dict[str, str]) -> bool:
    found = client.post("/query", json=body | {"waitTimeout": "0s"}).json()
    return bool(found["sentBefore"]) and found["status"]["state"] == "RUNNING"


def test_a_stop_ends_in_time_although_the_engine_does_not_answer(folder: Path) -> None:
    gateway = RunningGateway.start(folder / "hanging", SETTINGS | {"SLUICE_SHUTDOWN_TIMEOUT_S": "1"})
    try:
        jvm = gateway.jvm()
        assert jvm is not None
        jvm.suspend()
        for sql in ("SELECT 1", "SELECT count(*) FROM range(10)"):
            assert gateway.client.post("/query", json={"sql": sql, "waitTimeout": "0s"}).status_code == 202
        gateway.stop(within_s=1 + STOPPED_WITHIN_S + SLACK_S)
        assert psutil.wait_procs([jvm], timeout=30)[1] == []
    finally:
        gateway.kill()


@pytest.mark.timeout(300)
def test_a_gateway_that_cannot_start_an_engine_asks_to_be_restarted(folder: Path) -> None:
    java = folder / "java"
    java.symlink_to(_java_home())
    patience = {"SLUICE_ENGINE_UNRESPONSIVE_S": "20", "SLUICE_LIVENESS_PATIENCE_S": "1"}
    gateway = RunningGateway.start(folder / "stuck", SETTINGS | patience | {"JAVA_HOME": str(java)})
    try:
        assert gateway.client.get("/livez").json() == {"status": "UP", "detail": ""}
        java.unlink()
        jvm = gateway.jvm()
        assert jvm is not None
        jvm.kill()
        stuck = until(lambda: _stuck(gateway), within_s=120)
        assert stuck["status"] == "STUCK"
        assert "none could be started" in str(stuck["detail"])
        assert gateway.client.get("/healthz").status_code == 200
        java.symlink_to(_java_home())
        until(lambda: gateway.client.get("/livez").status_code == 200, within_s=120)
        assert rows(gateway.client, "SELECT 1") == [[1]]
        assert gateway.stop() == 0
    finally:
        gateway.kill()


def _stuck(gateway: RunningGateway) -> dict[str, object]:
    response = gateway.client.get("/livez")
    found: dict[str, object] = response.json() if response.status_code == 503 else {}
    return found


def _java_home() -> Path:
    program = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else which("java")
    assert program is not None
    return Path(program).resolve().parents[1]


def test_a_store_that_was_not_migrated_keeps_the_gateway_from_starting(guarded: Guarded) -> None:
    refused = guarded.start_before_migration
    assert refused.returncode == 1
    assert _one_sentence(refused.stderr).endswith("run `sluice migrate` first.")


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run_sluice("serve", tmp_path, {"SLUICE_PORT": port})
    assert ended.returncode == 1
    assert f"Port {port}" in _one_sentence(ended.stderr)


def test_a_machine_without_java_is_one_sentence(tmp_path: Path) -> None:
    ended = run_sluice("serve", tmp_path / "data", {"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert ended.returncode == 1
    assert "install Java 17 or 21" in _one_sentence(ended.stderr)


def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    ended = run_sluice("serve", in_the_way / "data", {})
    assert ended.returncode == 1
    assert "SLUICE_DATA_DIR" in _one_sentence(ended.stderr)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"SLUICE_PROT": "1"}, "Did you mean SLUICE_PORT?"),
        ({"SLUICE_PORT": "many"}, "port"),
        ({"SLUICE_HOST": "0.0.0.0"}, "api_tokens"),
        ({"SLUICE_CATALOGS": '{"lake": {"type": "sql", "uri": "x://u:s3cret@h/d"}}'}, "warehouse"),
        ({"SLUICE_CONFIG_FILE": "/no/such/file"}, "cannot be read"),
    ],
)
def test_a_setting_that_does_not_fit_is_one_sentence(
    tmp_path: Path, settings: dict[str, str], part: str
) -> None:
    ended = run_sluice("serve", tmp_path, settings)
    assert ended.returncode == 1
    assert part in _one_sentence(ended.stderr)
    assert "s3cret" not in ended.stderr


def _one_sentence(stderr: str) -> str:
    """Returns the single line that the operator reads, and ignores log lines."""
    lines = [line for line in stderr.splitlines() if not line.startswith("{")]
    assert "Traceback" not in stderr
    assert len(lines) == 1, stderr
    assert lines[0].startswith("sluice: ")
    return lines[0]
