"""Tests that commands start quickly, by what they import: a duration would depend on the machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.client.cli.running import CLIENT
from tests.client.gateways import Served

HEAVY_AT_START = (
    *("pyarrow", "numpy", "pandas", "polars", "duckdb"),
    *("httpx", "httpcore", "h11", "ssl", "asyncio", "anyio"),
    *("pydantic_settings", "fastapi", "starlette", "uvicorn", "structlog", "orjson"),
    *("pyspark", "py4j", "pyiceberg", "sqlalchemy", "psycopg", "redis", "sqlglot", "opentelemetry"),
    *("rich.console", "rich.table", "prompt_toolkit", "IPython", "cryptography"),
    *("service", "spark_session", "migrations", "api.bootstrap", "api.http"),
)
"""Modules that a command imports when it runs, if it needs them, and never before.

Typer itself imports pydantic for the arguments of a command.
"""
HEAVY_AT_WORK = (
    *("pyarrow", "numpy", "pandas", "polars", "prompt_toolkit", "IPython", "service", "api"),
    *("rich.console", "pygments"),
)
"""Modules that no command of the client needs to print text."""
PROGRAMS = {"sluice": "api.cli", "sluice-client": "sluice_client.cli.command_line"}


def imported(program: str, *arguments: str, heavy: tuple[str, ...], url: str = "") -> list[str]:
    """Returns those of `heavy` that a process of its own has imported at its end."""
    script = (
        f"import sys, atexit; sys.argv = {[program, *arguments]!r}\n"
        f"atexit.register(lambda: print([name for name in {heavy!r} if name in sys.modules]))\n"
        f"from {PROGRAMS[program]} import main\nmain()"
    )
    searched = os.pathsep.join((str(CLIENT.parent), str(CLIENT)))
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": searched, "SLUICE_URL": url},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: list[str] = eval(ended.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["serve", "--help"], ["keys", "--help"], ["doctor", "--help"]],
    ids=" ".join,
)
def test_the_gateways_command_starts_with_nothing_that_is_slow(arguments: list[str]) -> None:
    assert imported("sluice", *arguments, heavy=HEAVY_AT_START) == []


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], *([name, "--help"] for name in ("query", "ingest", "tables", "top"))],
    ids=" ".join,
)
def test_the_clients_command_starts_with_nothing_that_is_slow(arguments: list[str]) -> None:
    assert imported("sluice-client", *arguments, heavy=HEAVY_AT_START) == []


@pytest.mark.parametrize(
    "arguments",
    [
        *(["query", "SELECT 1 AS n", "--format", name] for name in ("table", "csv", "json")),
        *(["tables"], ["status"], ["explain", "SELECT 1"]),
    ],
    ids=" ".join,
)
def test_a_command_that_prints_text_needs_no_arrow(gateway: Served, arguments: list[str]) -> None:
    assert imported("sluice-client", *arguments, heavy=HEAVY_AT_WORK, url=gateway.url) == []
