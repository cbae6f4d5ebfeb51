"""The import contracts hold, and deliberate violations break them.

Two tests run the linter on source files, as `make check` does. All others add their violation to the graph of
imports that the linter makes from these files, and ask the contract itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

import pytest
from grimp import ImportGraph, build_graph
from importlinter import Contract
from importlinter.api import read_configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "service", "spark_session")
CLIENT = "sluice_client"
ONE_WAY = "Inside the service, data flows one way"
PURE = "What decides knows no outside system"
TYPES: Mapping[str, type[Contract]] = {
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copies the packages' source and their contracts into a folder."""
    shutil.copy(ROOT / ".importlinter", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "client" / CLIENT, tmp_path / CLIENT, ignore=shutil.ignore_patterns("__pycache__"))
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


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    """Returns all imports of the packages as they are."""
    return build_graph(*PACKAGES, CLIENT, include_external_packages=True, cache_dir=None)


@pytest.fixture(scope="module")
def contracts() -> Mapping[str, Contract]:
    """Returns the contracts by their names."""
    read = read_configuration(str(ROOT / ".importlinter"))
    return {
        options["name"]: TYPES[options["type"]](options["name"], read["session_options"], options)
        for options in read["contracts_options"]
    }


def name_of(module: str) -> str:
    return module.removesuffix(".py").replace("/", ".")


def test_the_packages_as_they_are_keep_every_contract(copy: Path) -> None:
    linted = lint(copy)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert " 0 broken" in linted.stdout


def test_two_violations_break_two_contracts_and_are_named(copy: Path) -> None:
    violate(copy / "service" / "query" / "execution" / "validate.py", "import fastapi")
    violate(copy / "service" / "model" / "query" / "query.py", "import service.query.execution.validate")
    linted = lint(copy)
    assert linted.returncode != 0
    assert broken(linted.stdout) >= {ONE_WAY, PURE}
    assert "service.query.execution.validate -> fastapi" in linted.stdout
    assert "service.model.query.query -> service.query.execution.validate" in linted.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        (
            "service/errors/gateway_error.py",
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
            "import service.query.registry.query_registry",
            "A query's life asks",
        ),
        (
            "service/query/filtering/pruned_query.py",
            "import service.query.filtering.rewrite",
            "A query's filters are found",
        ),
        (
            "service/query/filtering/detection/read_text.py",
            "import service.query.filtering.detection.detections",
            "A text is read",
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
        ("api/http/gateway_access.py", "import api.cli.part_checks", "The command stands on the HTTP edge"),
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
        ("api/cli/part_checks.py", "import api.cli.wiring_checks", "Commands stand on their checks"),
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
        ("sluice_client/errors.py", "import service.errors", "The client knows the gateway by HTTP"),
        ("api/http/app.py", "import sluice_client.errors", "No part of the gateway knows its client"),
        ("sluice_client/calls.py", "import pandas", "The client needs httpx and Arrow"),
        (
            "sluice_client/query/run_query.py",
            "import sluice_client.drivers.sync_driver",
            "The client's calls stand on flows",
        ),
        (
            "sluice_client/cli/work/query.py",
            "import sluice_client.cli.interactive.shell",
            "The client's commands are arguments alone",
        ),
        ("sluice_client/query/run_query.py", "import typer", "Only the client's command line needs typer"),
        ("sluice_client/dbapi/cursor.py", "import sqlalchemy", "Only the client's dialect needs SQLAlchemy"),
        (
            "sluice_client/sqlalchemy/types.py",
            "import sluice_client.sqlalchemy.spark_compiler",
            "The dialect writes SQL and reads names apart",
        ),
    ],
)
def test_every_other_contract_bites_too(
    graph: ImportGraph, contracts: Mapping[str, Contract], module: str, line: str, contract: str
) -> None:
    importer, imported = name_of(module), line.removeprefix("import ")
    assert {importer, imported} <= graph.modules
    [asked] = [found for name, found in contracts.items() if name.startswith(contract)]
    violated = deepcopy(graph)
    violated.add_import(importer=importer, imported=imported)
    assert not asked.check(violated, verbose=False).kept


@pytest.mark.parametrize(
    "room",
    [
        "service",
        "service/pruning",
        "service/query",
        "service/model",
        "api",
        "api/http",
        "api/http/routes",
        "api/http/schemas",
        "api/bootstrap/settings",
        "api/bootstrap/wiring",
        "api/flight",
        "service/errors",
        "service/ports",
        "service/query/execution",
        "service/query/filtering",
        "service/query/filtering/detection",
        "service/query/registry",
        "spark_session",
        "sluice_client",
        "sluice_client/cli",
        "sluice_client/sqlalchemy",
    ],
)
def test_a_new_part_of_a_room_needs_its_place_in_the_fence(
    graph: ImportGraph, contracts: Mapping[str, Contract], room: str
) -> None:
    stray = f"{room.replace('/', '.')}.stray"
    violated = deepcopy(graph)
    violated.add_module(stray)
    checks = [
        contract.check(deepcopy(violated), verbose=False)
        for contract in contracts.values()
        if isinstance(contract, LayersContract)
    ]
    assert stray in {name for check in checks for name in check.metadata["undeclared_modules"]}
