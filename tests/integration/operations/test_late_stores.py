"""Gateways that start before their stores, as in a composition whose parts start in any order."""

from __future__ import annotations

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.integration.asking import rows
from tests.integration.running import COMMAND, REPOSITORY, RunningGateway, environment, run_sluice
from tests.integration.servers import Valkey, postgres
from tests.polling import until

pytestmark = pytest.mark.integration


def log_of(data_dir: Path) -> str:
    return "".join(path.read_text() for path in data_dir.glob("stderr-*.jsonl"))


@pytest.mark.timeout(400)
def test_a_gateway_waits_for_its_stores_and_for_their_schema(folder: Path) -> None:
    data_dir = folder / "gateway"
    cache = Valkey()
    with postgres(folder / "database", "metrics") as database, ThreadPoolExecutor(2) as pool:
        settings = {
            "SLUICE_METRICS_STORE_URL": database.url("metrics"),
            "SLUICE_FILTER_CACHE_URL": cache.url,
            "SLUICE_SPARK_MASTER": "local[2]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            "SLUICE_STORES_MAX_WAIT_S": "200",
        }
        database.stop()
        starting = pool.submit(RunningGateway.start, data_dir, settings)
        try:
            until(lambda: '"metricsStore"' in log_of(data_dir) and '"filterCache"' in log_of(data_dir), 60)
            migrating = pool.submit(run_sluice, "migrate", folder / "migration", settings)
            cache.start()
            database.start()
            assert migrating.result().returncode == 0
            gateway = starting.result()
            try:
                assert rows(gateway.client, "SELECT 1 + 1") == [[2]]
                assert gateway.client.get("/readyz").json()["status"] == "READY"
                said = [line for line in gateway.log_lines() if line["event"] == "waiting_for_store"]
                assert {line["store"] for line in said} == {"metricsStore", "filterCache"}
            finally:
                gateway.stop()
        finally:
            cache.stop()


def test_a_gateway_that_waits_stops_at_once(folder: Path) -> None:
    settings = {"SLUICE_METRICS_STORE_URL": "postgresql://user:secret@127.0.0.1:9/none"}
    with subprocess.Popen(
        [*COMMAND, "serve"],
        cwd=REPOSITORY,
        env=environment(folder, settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            while "waiting_for_store" not in line:
                line = process.stderr.readline()
            assert "secret" not in line
            process.send_signal(signal.SIGTERM)
            assert process.wait(15) == 0
        finally:
            process.kill()
