"""A default catalog that the engine cannot open fails only its own tables, and says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.asking import post, problem, readiness, rows
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

DRIVER = "org.xerial:sqlite-jdbc:3.50.3.0"


def test_it_fails_its_own_tables_and_names_the_missing_driver(folder: Path) -> None:
    lake = {"type": "sql", "uri": f"sqlite:///{folder / 'lake.db'}", "warehouse": (folder / "lake").as_uri()}
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_CATALOGS": json.dumps({"lake": lake}),
    }
    gateway = RunningGateway.start(folder / "data", settings)
    try:
        client = gateway.client
        _, answer = readiness(client)
        part = answer["parts"]["catalog:lake"]
        assert part["state"] == "DOWN"
        assert "No suitable driver" in part["detail"]
        assert DRIVER in part["detail"]
        assert str(folder) not in json.dumps(answer)
        assert rows(client, "SELECT 1") == [[1]]
        assert rows(client, "SELECT 1", catalog="spark_catalog") == [[1]]
        found = problem(post(client, "SELECT * FROM shop.item"), 503, "CATALOG_DOWN")
        assert "lake" in found["detail"]
        assert DRIVER in gateway.log_path.read_text()
        assert gateway.stop() == 0
    finally:
        gateway.kill()
