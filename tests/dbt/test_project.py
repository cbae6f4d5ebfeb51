"""dbt-spark, as it is, runs the project of `examples/dbt` against a gateway, twice: `make dbt-test`.

The second run finds tables and changed records: it merges, appends, replaces partitions and takes a snapshot.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.hive.conftest import free_port
from tests.integration.running import REPOSITORY, RunningGateway

pytestmark = [
    pytest.mark.skipif("SLUICE_TEST_DBT" not in os.environ, reason="`make dbt-test` runs it"),
    pytest.mark.timeout(5400),
]
PROJECT = REPOSITORY / "examples" / "dbt"
SCHEMA = "dbt_shop"
USER, KEY = "dbt", "key-of-dbt-51d0"
# Where a snapshot's view is for a moment: it is named without a schema.
SCRATCH = "scratch"
ACTIONS = ["select", "insert", "modify", "create"]
ROLES: dict[str, Any] = {
    "transformer": {
        "grants": [{"tables": f"lake.{schema}.*", "actions": ACTIONS} for schema in (SCHEMA, SCRATCH)]
    }
}
ADMIN, ADMINS_KEY = "boss", "key-of-boss-7a3e"
COMMAND_S = 900
ORDERS = 60


@dataclass(frozen=True)
class Dbt:
    """A copy of the project, and the program with what its profile needs."""

    project: Path
    port: int
    lake: SqlCatalog
    admin: httpx.Client

    def run(self, *arguments: str) -> str:
        """Runs a command of dbt to its end, and returns its output."""
        started = time.monotonic()
        ran = subprocess.run(
            [os.environ["SLUICE_TEST_DBT"], "--no-use-colors", "--log-format", "text", *arguments],
            cwd=self.project,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.project),
                "DBT_PROFILES_DIR": str(self.project),
                "SLUICE_HIVE_PORT": str(self.port),
                "SLUICE_DBT_USER": USER,
                "SLUICE_DBT_KEY": KEY,
                "SLUICE_DBT_SCHEMA": SCHEMA,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_S,
        )
        print(f"dbt {' '.join(arguments)}: {time.monotonic() - started:.1f} s")  # noqa: T201
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Returns the rows of a table, as another process reads them."""
        found: list[dict[str, Any]] = self.lake.load_table(f"{SCHEMA}.{table}").scan().to_arrow().to_pylist()
        return found

    def names_in(self, schema: str) -> list[str]:
        """Returns the tables and views of a schema."""
        found = self.admin.get("/tables", params={"catalog": "lake", "schema": schema}).json()
        return [entry["name"] for entry in found["tables"]]

    def change_seed(self, name: str, key: str, **values: str) -> None:
        """Changes one line of a seed."""
        path = self.project / "seeds" / f"{name}.csv"
        lines = list(csv.DictReader(path.read_text().splitlines()))
        changed = [line | (values if next(iter(line.values())) == key else {}) for line in lines]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(changed)


@pytest.fixture(scope="module")
def dbt() -> Iterator[Dbt]:
    # Not in pytest's folder: other runs close it to the user that PostgreSQL runs as.
    folder, port = Path(tempfile.mkdtemp(prefix="sluice-dbt-")), free_port()
    shutil.copytree(PROJECT, folder / "project", ignore=shutil.ignore_patterns("target", "logs"))
    keys = {USER: KEY, ADMIN: ADMINS_KEY}
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": SCRATCH,
        "SLUICE_HIVE_PORT": str(port),
        "SLUICE_SQL_WRITES": "true",
        "SLUICE_API_TOKENS": json.dumps(
            {name: sha256(key.encode()).hexdigest() for name, key in keys.items()}
        ),
        "SLUICE_PRINCIPAL_ROLES": json.dumps({USER: ["transformer"]}),
        "SLUICE_ADMINS": ADMIN,
        "SLUICE_AUTHORIZATION": "policies",
    }
    gateway = RunningGateway.start(folder / "gateway", settings, within_s=500)
    gateway.watch_password(USER, KEY)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake, gateway.client_with(ADMINS_KEY) as admin:
            lake.create_namespace(SCRATCH)
            body = {"version": admin.get("/policies").json()["version"], "roles": ROLES}
            assert admin.put("/policies", json=body).status_code == 200
            yield Dbt(folder / "project", port, lake, admin)
    finally:
        gateway.stop()
        shutil.rmtree(folder, ignore_errors=True)


def test_the_project_runs_twice(dbt: Dbt) -> None:
    first = ("--vars", '{through: "2026-01-12"}')
    assert "All checks passed" in dbt.run("debug")
    dbt.run("build", *first)
    earlier = {row["order_id"]: row for row in dbt.rows("orders")}
    assert 0 < len(earlier) == len(dbt.rows("order_log")) < ORDERS

    late = max(earlier)
    dbt.change_seed("raw_orders", str(late), status="returned", amount="1.25")
    dbt.change_seed("raw_customers", "1", city="Oslo")
    dbt.run("seed")
    dbt.run("run")
    dbt.run("snapshot")
    dbt.run("test")
    orders = {row["order_id"]: row for row in dbt.rows("orders")}
    assert len(orders) == len(dbt.rows("orders")) == ORDERS
    assert (orders[late]["status"], orders[late]["amount"]) == ("returned", Decimal("1.25"))
    log = {row["order_id"]: row for row in dbt.rows("order_log")}
    assert len(log) == len(dbt.rows("order_log")) == ORDERS
    assert log[late]["amount"] == earlier[late]["amount"]
    days = dbt.rows("daily_sales")
    assert len({row["order_day"] for row in days}) == len(days) > 1
    assert sum(row["orders"] for row in days) == ORDERS


def test_a_snapshot_has_both_states_and_leaves_no_view(dbt: Dbt) -> None:
    history = [row for row in dbt.rows("customer_history") if row["customer_id"] == 1]
    states = {(row["city"], row["dbt_valid_to"] is None) for row in history}
    assert states == {("Lyon", False), ("Oslo", True)}
    assert dbt.names_in(SCRATCH) == []


def test_the_documentation_has_types_and_comments(dbt: Dbt) -> None:
    dbt.run("docs", "generate")
    catalog = json.loads((dbt.project / "target" / "catalog.json").read_text())
    nodes = {name.rpartition(".")[2]: node for name, node in catalog["nodes"].items()}
    assert set(nodes) >= {"raw_orders", "stg_orders", "orders", "customers", "customer_history"}
    types = {name: column["type"] for name, column in nodes["orders"]["columns"].items()}
    assert types["amount"] == "decimal(10,2)"
    assert nodes["stg_orders"]["metadata"]["type"] == "view"
    comments = {column.name: column.doc for column in dbt.lake.load_table(f"{SCHEMA}.orders").schema().fields}
    assert comments["order_id"] == "The order's key."


def test_a_run_in_full_replaces_its_tables(dbt: Dbt) -> None:
    dbt.run("run", "--full-refresh", "--select", "orders", "order_log")
    assert len(dbt.rows("orders")) == len(dbt.rows("order_log")) == ORDERS
