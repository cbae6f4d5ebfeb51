"""`sluice doctor` on real parts: beside a running gateway, and with one part after another missing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

import migrations
from api.bootstrap.settings import Settings
from api.cli.commands.doctor import examine
from api.cli.part_checks import Finding, State
from api.cli.wiring_doctor import system_clock
from service.ports.clock import Clock
from tests.integration.asking import rows
from tests.integration.running import COMMAND, REPOSITORY, RunningGateway, environment, run_sluice
from tests.integration.servers import Postgres, Valkey, postgres, valkey
from tests.unit.api.cli.test_doctor import nowhere_to_write, of_part

pytestmark = pytest.mark.integration

# A busy machine must not count as a failure.
WITHIN_S = 500.0


class ClockAhead:
    """The machine's clock, set wrong by this much."""

    def __init__(self, by: timedelta) -> None:
        self._clock = system_clock()
        self._by = by

    def now(self) -> datetime:
        return self._clock.now() + self._by

    def elapsed_ms(self) -> int:
        return self._clock.elapsed_ms()


@dataclass(frozen=True)
class Stores:
    postgres: Postgres
    valkey: Valkey


@pytest.fixture(scope="module")
def stores(folder: Path) -> Iterator[Stores]:
    with postgres(folder / "doctor-postgres", "metrics", "unmigrated", "lake") as database, valkey() as cache:
        migrations.upgrade(database.url("metrics"))
        yield Stores(database, cache)


@pytest.fixture
def given(stores: Stores, tmp_path: Path) -> dict[str, object]:
    """The settings of a gateway without embedded servers."""
    lake = {
        "type": "sql",
        "uri": stores.postgres.url("lake"),
        "warehouse": (tmp_path / "warehouse").as_uri(),
    }
    return {
        "port": 0,
        "data_dir": tmp_path / "data",
        "metrics_store_url": stores.postgres.url("metrics"),
        "filter_cache_url": stores.valkey.url,
        "catalogs": {"lake": lake},
    }


def examined(given: Mapping[str, object], clock: Clock | None = None) -> list[Finding]:
    settings = Settings.model_validate(given)
    return examine(lambda: settings, clock or system_clock(), has_engine=False)


def states(findings: list[Finding], *parts: str) -> list[State]:
    return [of_part(findings, part).state for part in parts]


def failed(findings: list[Finding]) -> list[str]:
    return [finding.part for finding in findings if finding.state is State.FAILED]


def documented(output: str) -> dict[str, dict[str, Any]]:
    return {check["part"]: check for check in json.loads(output)["checks"]}


@pytest.mark.timeout(600)
def test_it_tries_all_beside_a_gateway_that_runs_and_names_the_catalog_that_one_side_cannot_load(
    running: RunningGateway, folder: Path
) -> None:
    half = {"type": "sql", "uri": f"sqlite:///{folder / 'half.db'}", "warehouse": (folder / "half").as_uri()}
    settings = {
        "SLUICE_CATALOGS": json.dumps({"half": half}),
        "SLUICE_EMBEDDED_CATALOG": "true",
        "SLUICE_PORT": running.url.rpartition(":")[2],
        "SLUICE_SPARK_MASTER": "local[4]",
    }
    before = sorted(path.name for path in running.data_dir.iterdir())
    server_before = (running.data_dir / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]
    log_before = running.log_path.stat().st_size
    caches_before = sorted((running.data_dir / "valkey").iterdir())

    ended = run_sluice("doctor", running.data_dir, settings, "--json", within_s=WITHIN_S)

    checks = documented(ended.stdout)
    half_in_spark = checks.pop("catalog half in Spark")
    assert half_in_spark["state"] == "FAILED"
    assert "add org.xerial:sqlite-jdbc" in half_in_spark["detail"]
    assert "SLUICE_SPARK_EXTRA_PACKAGES" in half_in_spark["cure"]
    assert ended.returncode == 1
    assert {part: check for part, check in checks.items() if check["state"] in ("FAILED", "SKIPPED")} == {}
    for part, expected in {
        "address": "A gateway listens",
        "embedded PostgreSQL": "runs on its data",
        "metrics store": "as this version needs",
        "filter cache": "allkeys-lru",
        "catalog half in PyIceberg": "0 namespaces",
        "catalog lake in Spark": "opened",
        "engine": "is warm",
        "query": "SELECT 1: 1 row",
        "query of a table": "counted ",
        "ingest": "wrote, read and deleted",
    }.items():
        assert expected in checks[part]["detail"], checks[part]
    assert "engine …" in ended.stderr

    assert rows(running.client, "SELECT 1 + 1") == [[2]]
    assert sorted(path.name for path in running.data_dir.iterdir()) == before
    server = (running.data_dir / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]
    assert server == server_before
    assert psutil.pid_exists(int(server))
    assert sorted((running.data_dir / "valkey").iterdir()) == caches_before
    assert '"level": "error"' not in running.log_path.read_text()[log_before:]
    assert not (running.data_dir / "warehouse" / ".sluice-doctor").exists()


def test_with_all_well_it_leaves_with_status_0_and_changes_nothing(
    given: dict[str, object], tmp_path: Path
) -> None:
    settings = {
        "SLUICE_METRICS_STORE_URL": str(given["metrics_store_url"]),
        "SLUICE_FILTER_CACHE_URL": str(given["filter_cache_url"]),
        "SLUICE_CATALOGS": json.dumps(given["catalogs"]),
        "COLUMNS": "250",
    }
    ended = run_sluice("doctor", tmp_path / "data", settings, "--no-engine", within_s=WITHIN_S)
    assert ended.returncode == 0, ended.stdout
    assert " 0 FAILED" in ended.stdout
    assert "wrote, read and deleted a Parquet file" in ended.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_first_start_is_tried_in_a_folder_that_is_removed_again(folder: Path) -> None:
    data_dir = folder / "doctor-first"
    data_dir.mkdir()
    findings = examined({"port": 0, "data_dir": data_dir})
    assert failed(findings) == []
    assert "no data yet" in of_part(findings, "embedded PostgreSQL").text
    assert "which the start creates" in of_part(findings, "metrics store").text
    assert states(findings, "filter cache", "catalog lake in PyIceberg", "ingest") == [State.OK] * 3
    assert list(data_dir.iterdir()) == []


def test_one_that_is_asked_to_stop_leaves_nothing_behind(folder: Path) -> None:
    data_dir = folder / "doctor-stopped"
    data_dir.mkdir()
    with subprocess.Popen(
        [*COMMAND, "doctor", "--no-engine"],
        cwd=REPOSITORY,
        env=environment(data_dir, {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any(line.startswith("filter cache") for line in process.stderr)
        process.terminate()
        said = process.stderr.read()
        assert process.wait(WITHIN_S) == 130, said
    assert list(data_dir.iterdir()) == []
    assert not [process for process in psutil.process_iter(["cmdline"]) if str(data_dir) in str(process.info)]


def test_postgresql_that_is_gone_fails_alone(given: dict[str, object]) -> None:
    findings = examined(given | {"metrics_store_url": "postgresql+psycopg://me:s3cret@127.0.0.1:9/metrics"})
    assert failed(findings) == ["metrics store"]
    assert "refused" in of_part(findings, "metrics store").text
    assert "SLUICE_METRICS_STORE_URL" in of_part(findings, "metrics store").cure
    assert "filter cache is" in of_part(findings, "clock").text
    assert states(findings, "filter cache", "catalog lake in PyIceberg", "ingest") == [State.OK] * 3


def test_a_schema_of_another_version_fails_and_names_the_command(
    given: dict[str, object], stores: Stores
) -> None:
    findings = examined(given | {"metrics_store_url": stores.postgres.url("unmigrated")})
    assert failed(findings) == ["metrics store"]
    assert "sluice migrate" in of_part(findings, "metrics store").cure
    assert not migrations.is_current(stores.postgres.url("unmigrated"))


def test_redis_that_is_gone_or_refuses_the_password_fails_alone(
    given: dict[str, object], stores: Stores
) -> None:
    findings = examined(given | {"filter_cache_url": "redis://:s3cret@127.0.0.1:9/0"})
    assert failed(findings) == ["filter cache"]
    assert "refused" in of_part(findings, "filter cache").text
    assert "metrics store is" in of_part(findings, "clock").text
    wrong = examined(given | {"filter_cache_url": f"redis://:wrong@127.0.0.1:{stores.valkey.port}/0"})
    assert of_part(wrong, "filter cache").text.startswith("The filter cache refuses the password.")


def test_a_catalog_that_is_gone_takes_the_ingest_with_it_and_no_other(given: dict[str, object]) -> None:
    catalogs = {"gone": {"type": "rest", "uri": "http://127.0.0.1:9/"}}
    findings = examined(given | {"catalogs": catalogs, "default_catalog": "gone"})
    assert failed(findings) == ["catalog gone in PyIceberg"]
    assert of_part(findings, "ingest").text == "It needs catalog gone in PyIceberg, which failed."


def test_a_warehouse_that_takes_no_file_fails_the_ingest(
    given: dict[str, object], stores: Stores, tmp_path: Path
) -> None:
    warehouse = nowhere_to_write(tmp_path / "closed")
    lake = {"type": "sql", "uri": stores.postgres.url("lake"), "warehouse": warehouse.as_uri()}
    findings = examined(given | {"catalogs": {"lake": lake}})
    assert failed(findings) == ["ingest"]
    assert "warehouse" in of_part(findings, "ingest").cure


def test_a_data_folder_that_takes_no_file_skips_what_is_embedded_there(tmp_path: Path) -> None:
    findings = examined({"port": 0, "data_dir": nowhere_to_write(tmp_path / "closed"), "jars_dir": tmp_path})
    assert failed(findings) == ["data folder"]
    assert of_part(findings, "embedded PostgreSQL").text == "It needs data folder, which failed."
    assert of_part(findings, "metrics store").text == "It needs embedded PostgreSQL, which was skipped."
    skipped = ("filter cache", "catalog lake in PyIceberg", "clock", "ingest")
    assert states(findings, *skipped) == [State.SKIPPED] * 4


@pytest.mark.parametrize(
    ("ahead", "state"),
    [(timedelta(minutes=5), State.FAILED), (timedelta(seconds=-15), State.WARNING)],
)
def test_a_clock_that_is_off_is_reported_for_both_stores(
    given: dict[str, object], ahead: timedelta, state: State
) -> None:
    clock = of_part(examined(given, ClockAhead(ahead)), "clock")
    assert clock.state is state
    said = "behind" if ahead > timedelta() else "ahead"
    assert clock.text.count(said) == 2
    assert clock.cure


def test_jars_that_are_not_there_are_named_and_the_engine_does_not_fetch_them(
    given: dict[str, object], tmp_path: Path
) -> None:
    settings = Settings.model_validate(given | {"jars_dir": tmp_path / "jars"})
    findings = examine(lambda: settings, system_clock(), has_engine=True)
    assert failed(findings) == []
    assert of_part(findings, "jars").state is State.WARNING
    assert of_part(findings, "engine").cure == "Run `sluice jars`."
    assert of_part(findings, "query of a table").text == "It needs query, which was skipped."
    assert not (tmp_path / "jars").exists()


def test_a_jar_of_the_operators_that_is_missing_fails(given: dict[str, object], tmp_path: Path) -> None:
    settings = Settings.model_validate(given | {"spark_jars": [str(tmp_path / "none.jar")]})
    findings = examine(lambda: settings, system_clock(), has_engine=True)
    assert failed(findings) == ["jars"]
    assert of_part(findings, "engine").text == "It needs jars, which failed."
