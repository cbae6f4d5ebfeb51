"""The import contracts hold, and deliberate violations break them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "service", "spark_session")
ONE_WAY = "Inside the service, data flows one way"
PURE = "What decides knows no outside system"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copies the packages' source and their contracts into a folder."""
    shutil.copy(ROOT / ".importlinter", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    command = [str(program), "--config", ".importlinter", "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def violate(module: Path, line: str) -> None:
    module.write_text(f"{module.read_text()}\n{line}\n")


def broken(output: str) -> set[str]:
    """Returns the names of the broken contracts."""
    return {line.split(" BROKEN")[0] for line in output.splitlines() if " BROKEN" in line}


def test_the_packages_as_they_are_keep_every_contract(copy: Path) -> None:
    linted = lint(copy)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert " 0 broken" in linted.stdout


def test_two_violations_break_two_contracts_and_are_named(copy: Path) -> None:
    violate(copy / "service" / "query" / "lifecycle" / "validate.py", "import fastapi")
    violate(copy / "service" / "model" / "query" / "query.py", "import service.query.lifecycle.validate")
    linted = lint(copy)
    assert linted.returncode != 0
    assert broken(linted.stdout) >= {ONE_WAY, PURE}
    assert "service.query.lifecycle.validate -> fastapi" in linted.stdout
    assert "service.model.query.query -> service.query.lifecycle.validate" in linted.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        (
            "service/errors.py",
            "import spark_session.session.guard",
            "The edge uses the session and the service",
        ),
        ("api/http/problems/http_errors.py", "import pyspark", "Only spark_session imports pyspark"),
        (
            "spark_session/engine/run_statement.py",
            "import service.gateway",
            "The session sees the service's ports",
        ),
        ("api/http/app.py", "import service.adapters.clock", "Only the wiring names adapters"),
        (
            "service/query/filtering/prune.py",
            "import service.query.lifecycle.query_registry",
            "A query's life asks",
        ),
        (
            "service/ingest/write_schema/cached_write_schemas.py",
            "import service.ingest.run_ingest",
            "An ingest goes from its bytes",
        ),
        (
            "service/ingest/decoding/csv/csv_rows.py",
            "import service.ingest.decoding.json.ndjson",
            "Formats share values and streams",
        ),
        (
            "service/adapters/clock.py",
            "import service.adapters.postgres.shared.storable",
            "Adapters stand on",
        ),
        (
            "service/adapters/data_files/layout/pieces.py",
            "import service.adapters.data_files.writer.turns",
            "Data files are laid out",
        ),
        (
            "service/adapters/postgres/streams/stream_tables.py",
            "import service.adapters.postgres.query_records.table_pruning",
            "Stores on PostgreSQL share",
        ),
        (
            "service/model/tables/views.py",
            "import service.model.ingest.writing",
            "Values of tables know none",
        ),
        ("api/http/gateway_access.py", "import api.cli.checks", "The command stands on the HTTP edge"),
        ("api/bootstrap/memory.py", "import api.http.waiting", "The command stands on the HTTP edge"),
        (
            "api/http/schemas/wire.py",
            "import api.http.problems.validation_faults",
            "A request passes from the connection",
        ),
        (
            "spark_session/results/reported_scan.py",
            "import spark_session.session.warm_session",
            "The engine stands on a session",
        ),
        ("api/cli/checks.py", "import api.cli.wiring_checks", "Commands stand on their checks"),
        ("api/bootstrap/version.py", "import api.bootstrap.settings", "The gateway is wired from its parts"),
        (
            "service/ingest/write_schema/projection.py",
            "import service.ingest.write_schema.rules.defaults",
            "What a write schema must keep to",
        ),
        (
            "service/pruning/sql_text/version_clause.py",
            "import service.pruning.sql_text.parse",
            "No two siblings import each other",
        ),
        (
            "service/pruning/candidates/inner_join.py",
            "import service.pruning.candidates.outer_join",
            "No rule of pruning knows",
        ),
        ("service/pruning/sql_text/parse.py", "import service.pruning.detect", "Pruning goes from the text"),
    ],
)
def test_every_other_contract_bites_too(copy: Path, module: str, line: str, contract: str) -> None:
    violate(copy / module, line)
    linted = lint(copy)
    assert linted.returncode != 0
    assert any(name.startswith(contract) for name in broken(linted.stdout))


@pytest.mark.parametrize(
    "room",
    ["service", "service/pruning", "service/query", "service/model", "api", "api/http", "spark_session"],
)
def test_a_new_part_of_a_room_needs_its_place_in_the_fence(copy: Path, room: str) -> None:
    (copy / room / "stray.py").write_text('"""Nobody said where this belongs."""\n')
    linted = lint(copy)
    assert linted.returncode != 0
    assert f"{room.replace('/', '.')}.stray" in linted.stdout
